// core/text for Python.

#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <numeric>

#include "arrays.hpp"
#include "contributions.hpp"
#include "lattices.hpp"
#include "native.hpp"
#include "rows.hpp"
#include "text/encode.hpp"
#include "text/ngram_features.hpp"
#include "text/words.hpp"

using namespace nb::literals;

namespace treille {
namespace {

using EncodedOut = std::tuple<Out<std::int32_t>, Out<std::int64_t>, Out<std::int32_t>>;

std::vector<Text> views_of(const nb::typed<nb::list, nb::str>& texts) {
  std::vector<Text> views;
  views.reserve(texts.size());
  for (nb::handle text : texts)
    views.push_back({PyUnicode_DATA(text.ptr()), static_cast<std::size_t>(PyUnicode_GET_LENGTH(text.ptr())),
                     static_cast<int>(PyUnicode_KIND(text.ptr()))});
  return views;
}

// The characters \w and \s of Python's regular expressions, and the lower case of str.lower if it is one character.
std::vector<Character> characters_of_python(bool lower) {
  constexpr Py_UCS4 dotted_capital_i = 0x130;  // the only one with a lower case of two
  std::vector<Character> all(kCodePoints);
  for (std::size_t c = 0; c < kCodePoints; ++c) {
    const auto point = static_cast<Py_UCS4>(c);
    const bool word = Py_UNICODE_ISALNUM(point) || point == '_';
    const auto kind = Py_UNICODE_ISSPACE(point) ? CharacterClass::space : word ? CharacterClass::word : CharacterClass::other;
    all[c] = {lower && point != dotted_capital_i ? Py_UNICODE_TOLOWER(point) : point, kind};
  }
  return all;
}

Characters characters(bool lower) {
  if (lower) {
    static const std::vector<Character> lowered = characters_of_python(true);
    return lowered;
  }
  static const std::vector<Character> plain = characters_of_python(false);
  return plain;
}

template <class Reader>
EncodedOut encode_texts(const std::vector<Text>& texts, const Reader& reader, Characters fold, int threads) {
  auto encoded = unlocked([&] { return encode(texts, reader, fold, threads); });
  return {give(std::move(encoded.symbols)), give(std::move(encoded.offsets)), give(encoded.alphabet)};
}

}  // namespace

void bind_text(nb::module_& m) {
  m.def(
      "encode_strings",
      [](const nb::typed<nb::list, nb::str>& texts, bool lower, bool spaced, int threads) {
        const Characters fold = lower ? characters(true) : Characters{};
        if (spaced) return encode_texts(views_of(texts), SpacedWords{characters(lower)}, fold, threads);
        return encode_texts(views_of(texts), AllCharacters{}, fold, threads);
      },
      "texts"_a, "lower"_a, "spaced"_a, "threads"_a,
      "Symbols, offsets and alphabet (code points) of a list that holds only str; `spaced`: one space before, between and after words.");
  m.def(
      "encode_words",
      [](const nb::typed<nb::list, nb::str>& texts, bool lower, bool alnum, int threads) {
        const std::vector<Text> views = views_of(texts);
        const WordRules rules{characters(lower), alnum};
        auto encoded = unlocked([&] { return encode_words(views, rules, threads); });
        nb::typed<nb::list, nb::str> alphabet;
        for (const std::u32string& word : encoded.alphabet)
          alphabet.append(nb::steal(PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, word.data(), static_cast<Py_ssize_t>(word.size()))));
        return std::tuple(give(std::move(encoded.symbols)), give(std::move(encoded.offsets)), alphabet);
      },
      "texts"_a, "lower"_a, "alnum"_a, "threads"_a,
      "Symbols, offsets and alphabet (words, as the pattern \\w+|[^\\w\\s] finds them, `alnum`: \\w+) of a list that holds only str.");
  m.def(
      "encode_bytes",
      [](const nb::typed<nb::list, nb::bytes>& texts, int threads) {
        std::vector<Text> views;
        views.reserve(texts.size());
        for (nb::handle text : texts)
          views.push_back({PyBytes_AS_STRING(text.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(text.ptr())), 1});
        return encode_texts(views, AllCharacters{}, {}, threads);
      },
      "texts"_a, "threads"_a, "Symbols, offsets and alphabet (byte values) of a list that holds only bytes.");

  nb::class_<NGramFeatures>(m, "NGramFeatures", "N-grams with their ids: fitted, then frozen.")
      .def_static(
          "fit",
          [](In<std::int32_t> symbols, In<std::int64_t> offsets, std::int32_t border, int min_order, int max_order, In<double> weights,
             Counts counts, std::int32_t alphabet_size, int threads) {
            return give_fit([&](RowsWithNorms& rows) {
              return NGramFeatures::fit({view(symbols), view(offsets), border}, min_order, max_order, view(weights), alphabet_size, threads,
                                        rows, counts);
            });
          },
          "symbols"_a, "offsets"_a, "border"_a, "min_order"_a, "max_order"_a, "weights"_a, "counts"_a, "alphabet_size"_a, "threads"_a)
      .def_static(
          "fit_lattices",
          [](const LatticesIn& data, int min_order, int max_order, In<double> weights, Counts counts, std::int32_t alphabet_size,
             int threads) {
            return give_fit([&](RowsWithNorms& rows) {
              return NGramFeatures::fit(data.view(), min_order, max_order, view(weights), alphabet_size, threads, rows, counts);
            });
          },
          "data"_a, "min_order"_a, "max_order"_a, "weights"_a, "counts"_a, "alphabet_size"_a, "threads"_a)
      .def_static(
          "from_grams",
          [](In<std::int32_t> grams, In<std::int32_t> orders, int min_order, int max_order, In<double> weights, Counts counts,
             std::int32_t alphabet_size) {
            return unlocked([&] {
              return NGramFeatures::from_grams(view(grams), view(orders), min_order, max_order, view(weights), alphabet_size, counts);
            });
          },
          "grams"_a, "orders"_a, "min_order"_a, "max_order"_a, "weights"_a, "counts"_a, "alphabet_size"_a)
      .def(
          "transform",
          [](const NGramFeatures& self, In<std::int32_t> symbols, In<std::int64_t> offsets, In<std::int32_t> recode, std::int32_t border,
             int threads) {
            return give(unlocked([&] { return self.transform({view(symbols), view(offsets), border}, view(recode), threads); }));
          },
          "symbols"_a, "offsets"_a, "recode"_a, "border"_a, "threads"_a)
      .def("transform_lattices",
           native(nb::overload_cast<const Lattices&, std::span<const std::int32_t>, int>(&NGramFeatures::transform, nb::const_)), "data"_a,
           "recode"_a, "threads"_a)
      .def(
          "occurrences",
          [](const NGramFeatures& self, In<std::int32_t> symbols, In<std::int64_t> offsets, In<std::int32_t> recode, int threads) {
            auto found = unlocked([&] { return self.occurrences({view(symbols), view(offsets)}, view(recode), threads); });
            return std::tuple(give(std::move(found.ids)), give(std::move(found.starts)), give(std::move(found.offsets)));
          },
          "symbols"_a, "offsets"_a, "recode"_a, "threads"_a,
          "Ids and starts of the fitted n-grams that occur, by sequence and position, and where each sequence begins among them.")
      .def("contributions", &contributions_of_symbols<NGramFeatures>, "symbols"_a, "offsets"_a, "recode"_a, "weights"_a, "threads"_a,
           "The contribution of each symbol to functions of the rows.")
      .def("contributions_of_arcs", &contributions_of_arcs<NGramFeatures>, "data"_a, "recode"_a, "weights"_a, "threads"_a,
           "The contribution of each arc to functions of the rows.")
      .def(
          "merge",
          [](const NGramFeatures& self, const NGramFeatures& other, In<std::int32_t> recode_other) {
            auto [merged, ids] = unlocked([&] { return self.merge(other, view(recode_other)); });
            std::vector<std::int64_t> own(self.size());
            std::iota(own.begin(), own.end(), 0);
            return std::tuple(std::move(merged), give(own), give(ids));
          },
          "other"_a, "recode_other"_a,
          "The n-grams of both, with new n-grams of `other` last, and the ids of both. Symbol s of `other` is recode_other[s] here; "
          "new symbols follow the symbols of this alphabet.")
      .def("absorb", native(&NGramFeatures::absorb), "other"_a, "recode_other"_a,
           "Adds the n-grams of `other` to these, and returns their ids here; as in merge.")
      .def("__len__", &NGramFeatures::size)
      .def_prop_ro("min_order", &NGramFeatures::min_order)
      .def_prop_ro("max_order", &NGramFeatures::max_order)
      .def_prop_ro(
          "weights", [](const NGramFeatures& self) { return give(self.weights()); }, nb::rv_policy::automatic)
      .def("gram", &NGramFeatures::gram, "id"_a)
      .def("grams", native(&NGramFeatures::grams))
      .def("orders", native(&NGramFeatures::orders));
}

}  // namespace treille
