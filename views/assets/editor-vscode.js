// Key bindings of VS Code that the editor lacks, for example for multiple cursors, moving lines, and comments.
import { addCursorAbove, addCursorBelow, blockUncomment, deleteLine, lineComment, lineUncomment, selectLine } from "@codemirror/commands";
import { foldAll, foldCode, unfoldAll, unfoldCode } from "@codemirror/language";
import { gotoLine, openSearchPanel, selectSelectionMatches } from "@codemirror/search";
import { keymap } from "@codemirror/view";

export const keys = () =>
  keymap.of([
    { key: "Mod-l", run: selectLine, preventDefault: true },
    { key: "Ctrl-g", run: gotoLine, preventDefault: true },
    { key: "Mod-h", run: openSearchPanel, preventDefault: true },
    { key: "Mod-Shift-k", run: deleteLine, preventDefault: true },
    { key: "Mod-F2", run: selectSelectionMatches, preventDefault: true },
    { key: "Mod-Alt-ArrowUp", run: addCursorAbove, preventDefault: true },
    { key: "Mod-Alt-ArrowDown", run: addCursorBelow, preventDefault: true },
    { key: "Mod-k Mod-c", run: lineComment, preventDefault: true },
    { key: "Mod-k Mod-u", run: (view) => lineUncomment(view) || blockUncomment(view), preventDefault: true },
    { key: "Mod-k Mod-0", run: foldAll, preventDefault: true },
    { key: "Mod-k Mod-j", run: unfoldAll, preventDefault: true },
    { key: "Mod-Shift-[", run: foldCode, preventDefault: true },
    { key: "Mod-Shift-]", run: unfoldCode, preventDefault: true },
  ]);
