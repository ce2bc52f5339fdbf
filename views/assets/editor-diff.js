import { unifiedMergeView } from "@codemirror/merge";

// What was changed against another text, in the text.
// An equal text stays whole: nothing but a fold would be left of it.
export const against = (original, equal) =>
  unifiedMergeView({ original, mergeControls: false, allowInlineDiffs: false, ...(equal ? {} : { collapseUnchanged: { margin: 3, minSize: 8 } }) });
