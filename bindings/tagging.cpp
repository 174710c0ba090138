// core/tagging for Python.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "native.hpp"
#include "tagging/columns.hpp"
#include "tagging/decode.hpp"
#include "tokens.hpp"

using namespace nb::literals;

namespace treille {
namespace {

std::string_view text_of(const nb::bytes& text) { return {text.c_str(), text.size()}; }

// The strings of an interner, up to the first that is not UTF-8; then the list is shorter than the interner.
nb::typed<nb::list, nb::str> strings_of(const Interner<char>& values) {
  nb::typed<nb::list, nb::str> out;
  for (std::size_t v = 0; v < values.size(); ++v) {
    PyObject* text = PyUnicode_DecodeUTF8(values[v].data(), static_cast<Py_ssize_t>(values[v].size()), "strict");
    if (text == nullptr) {
      PyErr_Clear();
      break;
    }
    out.append(nb::steal(text));
  }
  return out;
}

}  // namespace

void bind_tagging(nb::module_& m) {
  nb::class_<TokenText>(m, "TokenText", "Tokens of a text: codes and values of columns, or items.")
      .def_prop_ro(
          "codes",
          [](const TokenText& self) {
            std::vector<Out<std::int32_t>> out;
            for (const auto& codes : self.codes) out.push_back(give(codes));
            return out;
          },
          nb::rv_policy::move)
      .def_prop_ro("values",
                   [](const TokenText& self) {
                     std::vector<nb::typed<nb::list, nb::str>> out;
                     for (const auto& values : self.values) out.push_back(strings_of(values));
                     return out;
                   })
      .def_prop_ro("n_values",
                   [](const TokenText& self) {
                     std::vector<std::size_t> sizes;
                     for (const auto& values : self.values) sizes.push_back(values.size());
                     return sizes;
                   })
      .def_prop_ro(
          "items", [](const TokenText& self) { return give(self.items); }, nb::rv_policy::move)
      .def_prop_ro(
          "item_offsets", [](const TokenText& self) { return give(self.item_offsets); }, nb::rv_policy::move)
      .def_prop_ro("item_names", [](const TokenText& self) { return strings_of(self.item_names); })
      .def_prop_ro(
          "weights", [](const TokenText& self) { return give(self.weights); }, nb::rv_policy::move)
      .def_prop_ro("n_item_names", [](const TokenText& self) { return self.item_names.size(); })
      .def_prop_ro(
          "offsets", [](const TokenText& self) { return give(self.offsets); }, nb::rv_policy::move)
      .def_prop_ro(
          "lines", [](const TokenText& self) { return give(self.lines); }, nb::rv_policy::move)
      .def_prop_ro(
          "ends", [](const TokenText& self) { return give(self.ends); }, nb::rv_policy::move)
      .def_ro("bytes_read", &TokenText::bytes_read)
      .def_ro("lines_read", &TokenText::lines_read)
      .def_prop_ro("fault", [](const TokenText& self) {
        return std::tuple(self.fault.line, self.fault.found, nb::bytes(self.fault.field.data(), self.fault.field.size()));
      });
  m.def(
      "parse_columns",
      [](const nb::bytes& text, bool tabs, bool comments, std::size_t n_columns, std::int64_t first_line, bool end) {
        return unlocked([&] { return parse_columns(text_of(text), {tabs, comments, n_columns}, first_line, end); });
      },
      "text"_a, "tabs"_a, "comments"_a, "n_columns"_a, "first_line"_a, "end"_a);
  m.def(
      "parse_items",
      [](const nb::bytes& text, std::int64_t first_line, bool end) {
        return unlocked([&] { return parse_items(text_of(text), first_line, end); });
      },
      "text"_a, "first_line"_a, "end"_a);
  m.def(
      "append_column",
      [](const nb::bytes& text, In<std::int64_t> ends, bool tabs, In<std::int32_t> codes, const std::vector<std::string_view>& names) {
        const std::string out = unlocked([&] { return append_column(text_of(text), view(ends), tabs ? '\t' : ' ', view(codes), names); });
        return nb::bytes(out.data(), out.size());
      },
      "text"_a, "ends"_a, "tabs"_a, "codes"_a, "names"_a);

  nb::class_<TemplatesIn>(m, "TokenTemplates", "Atoms of templates: attribute and offset; -1 is a tag, -2 the user's features.")
      .def(nb::init<In<std::int32_t>, In<std::int32_t>, In<std::int32_t>>(), "offsets"_a, "attributes"_a, "distances"_a);
  nb::class_<TokenBatchIn>(m, "TokenBatch", "Coded columns, and for each attribute the code of every value of its column.")
      .def(nb::init<std::vector<In<std::int32_t>>, std::vector<std::size_t>, std::vector<In<std::int32_t>>, In<std::int64_t>,
                    In<std::int32_t>, In<std::int32_t>, In<std::int64_t>>(),
           "columns"_a, "column_of"_a, "maps"_a, "offsets"_a, "items"_a, "item_map"_a, "item_offsets"_a);
  m.def(
      "count_token_features",
      [](const TemplatesIn& templates, const TokenBatchIn& batch, In<std::int32_t> tags, std::int32_t n_tags, bool backward,
         const std::vector<std::int32_t>& sizes, std::int32_t n_items, std::int64_t min_count) {
        const auto found = unlocked(
            [&] { return count_features(templates.read(), batch.read(), {view(tags), n_tags, backward}, sizes, n_items, min_count); });
        return std::tuple(give(found.templates), give(found.codes));
      },
      "templates"_a, "batch"_a, "tags"_a, "n_tags"_a, "backward"_a, "sizes"_a, "n_items"_a, "min_count"_a,
      "Templates and codes of the features seen at least `min_count` times, the most frequent first.");
  nb::class_<TokenFeatures>(m, "TokenFeatures", "Features of tokens with their ids: fitted, then frozen.")
      .def(
          "__init__",
          [](TokenFeatures* self, const TemplatesIn& templates, const std::vector<std::int32_t>& sizes, std::int32_t n_items,
             std::int32_t n_tags, bool backward, In<std::int32_t> feature_templates, In<std::int32_t> codes) {
            new (self) TokenFeatures(templates.read(), sizes, n_items, n_tags, backward, view(feature_templates), view(codes));
          },
          "templates"_a, "sizes"_a, "n_items"_a, "n_tags"_a, "backward"_a, "feature_templates"_a, "codes"_a)
      .def_prop_ro("n_features", &TokenFeatures::n_features)
      .def_prop_ro("n_dynamic", &TokenFeatures::n_dynamic)
      .def_prop_ro("history", &TokenFeatures::history)
      .def("transform", native(nb::overload_cast<const TokenBatch&, int>(&TokenFeatures::transform, nb::const_)), "batch"_a, "threads"_a,
           "Offsets and ids of static features, and the parts of dynamic ones by token and template.")
      .def("transform_tagged",
           native(nb::overload_cast<const TokenBatch&, std::span<const std::int32_t>, int>(&TokenFeatures::transform, nb::const_)),
           "batch"_a, "tags"_a, "threads"_a, "Offsets and ids of the features, dynamic ones for these tags; no parts.")
      .def(
          "dynamic_ids",
          [](const TokenFeatures& self, In<std::int32_t> parts, In<std::int32_t> previous) {
            std::vector<std::int32_t> ids;
            self.dynamic_ids(parts.data(), previous.data(), [&](std::int32_t id) { ids.push_back(id); });
            return ids;
          },
          "parts"_a, "previous"_a, "Ids of the dynamic features of a token, for the tags given before, the last first.");
  m.def(
      "decode_tags",
      [](const TokenFeatures& features, const ConjunctionScorer& scorer, In<std::uint32_t> item_of, In<double> intercept, double scale,
         In<std::int32_t> pairs, In<std::uint8_t> allowed, std::size_t beam, const TokenBatchIn& batch, int threads) {
        const TokenBatch tokens = batch.read();
        Buffer<std::int32_t> tags(tokens.n_tokens());
        unlocked([&] {
          const TagSearch search{features, scorer, view(item_of), view(intercept), scale, view(pairs), view(allowed), beam};
          decode(search, features.transform(tokens, threads), tokens.offsets, threads, tags.data());
        });
        return give(std::move(tags));
      },
      "features"_a, "scorer"_a, "item_of"_a, "intercept"_a, "scale"_a, "pairs"_a, "allowed"_a, "beam"_a, "batch"_a, "threads"_a,
      "The tags of the tokens. pairs: two tags for each function, or empty where each has its own; allowed: for each tag and the place "
      "outside a sentence, which may follow.");
}

}  // namespace treille
