import { unifiedMergeView } from "@codemirror/merge";

// Shows in the editor what differs from another text. Unchanged lines are folded, except if the texts are equal.
export const against = (original, equal) =>
  unifiedMergeView({ original, mergeControls: false, allowInlineDiffs: false, ...(equal ? {} : { collapseUnchanged: { margin: 3, minSize: 8 } }) });
