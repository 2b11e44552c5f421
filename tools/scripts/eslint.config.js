// The rules for scripts of the pages: those that ESLint recommends, and those that find mistakes of this code's style.
import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: ["**/idiomorph.js"] },
  js.configs.recommended,
  {
    languageOptions: { sourceType: "module", globals: globals.browser },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-shadow": "error",
      "no-use-before-define": ["error", { functions: false, variables: false }],
      "no-var": "error",
      "prefer-const": "error",
    },
  },
];
