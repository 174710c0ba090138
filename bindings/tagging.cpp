// core/tagging for Python.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "tagging/columns.hpp"

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
}

}  // namespace treille
