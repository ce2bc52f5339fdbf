// Tokens of the look. Colours are CSS variables that views/assets/app.css sets once for both themes.
const colour = (name) => `var(--${name})`;

module.exports = {
  content: ["./views/*.templ", "./views/*.go"],
  theme: {
    colors: {
      transparent: "transparent",
      current: "currentColor",
      page: colour("page"),
      surface: colour("surface"),
      sunken: colour("sunken"),
      line: { DEFAULT: colour("line"), strong: colour("line-strong") },
      ink: { DEFAULT: colour("ink"), soft: colour("ink-soft") },
      accent: { DEFAULT: colour("accent"), wash: colour("accent-wash"), ink: colour("accent-ink") },
      pass: { DEFAULT: colour("pass"), wash: colour("pass-wash") },
      fail: { DEFAULT: colour("fail"), wash: colour("fail-wash") },
      warn: { DEFAULT: colour("warn"), wash: colour("warn-wash") },
    },
    fontFamily: {
      sans: ['"Figtree Variable"', "ui-sans-serif", "system-ui", "sans-serif"],
      mono: ["ui-monospace", "SFMono-Regular", "Menlo", "Consolas", '"DejaVu Sans Mono"', "monospace"],
    },
  },
};
