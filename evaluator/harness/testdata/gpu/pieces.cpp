// Chooses the sealed parts of arrays again and again, and prints what the choices had in common, as JSON. Each array
// has three arguments: its place in the runner, the judge's own address, and its bytes.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "warpboard_answer.h"
#include "warpboard_hold.h"

using warpboard::WrittenArray;

template <class T = uint32_t>
static T* at(uint64_t address) { return reinterpret_cast<T*>(address); }

template <class T>
static uint64_t address(const T* memory) { return reinterpret_cast<uint64_t>(memory); }

int main(int count, char** arguments) {
    constexpr uint64_t inputs = uint64_t{1} << 39, blank = 4, kept = uint64_t{1} << 52;
    std::vector<WrittenArray> arrays;
    const auto number = [&](int i) { return std::strtoull(arguments[i], nullptr, 10); };
    for (int i = 1; i + 2 < count; i += 3) arrays.push_back({at<void>(number(i)), at<void>(number(i + 1)), number(i + 2)});
    std::vector<bool> seen(arrays.size());
    bool inside = true, decoys = true, records = true;
    warpboard::Seal seal;
    static warpboard::HoldPage page;
    for (int round = 0; round < 300; ++round) {
        seal.choose(arrays, at<void>(inputs), at(blank), at(kept), page);
        uint64_t end = 0;
        for (unsigned i = 0; i < seal.rows; ++i) {
            const warpboard::Sealed& row = page.rows[i];
            const uint64_t to = inputs + 4 * row.place;
            bool in_one = false;
            for (size_t k = 0; k < arrays.size() && !in_one; ++k) {
                const WrittenArray& array = arrays[k];
                in_one = address(array.to) <= to && to + 4 * row.words <= address(array.to) + array.bytes &&
                         address(row.own) - address(array.from) == to - address(array.to);
                if (in_one) seen[k] = true;
                if (in_one && seal.whole(array.to)) inside = inside && row.words == array.bytes / 4;
            }
            inside = inside && in_one;
            records = records && row.first == end;
            end += (row.words + warpboard::record_words - 1) / warpboard::record_words;
        }
        records = records && end == seal.records && end <= warpboard::most_records;
        for (unsigned i = 0; i < seal.pieces; ++i) {
            const warpboard::Piece& piece = page.pieces[i];
            const uint64_t which = (address(piece.decoy) - kept) / (4 * warpboard::record_words);
            decoys = decoys && address(piece.kept) == kept + 4 * warpboard::record_words * i &&
                     (address(piece.decoy) == blank || (which < seal.pieces && page.pieces[which].own != piece.own));
        }
    }
    std::printf("{\"Seen\": [");
    for (size_t k = 0; k < seen.size(); ++k) std::printf("%s%s", k > 0 ? ", " : "", seen[k] ? "true" : "false");
    const auto text = [](bool is) { return is ? "true" : "false"; };
    std::printf("], \"Inside\": %s, \"Decoys\": %s, \"Records\": %s}\n", text(inside), text(decoys), text(records));
}
