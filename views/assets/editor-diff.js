import { unifiedMergeView } from "@codemirror/merge";

// What was changed against another text, in the text.
export const against = (original) => unifiedMergeView({ original, mergeControls: false, allowInlineDiffs: false, collapseUnchanged: { margin: 3, minSize: 8 } });
