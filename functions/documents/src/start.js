// Dark colours where the visitor prefers them. The page's policy permits no inline styles, but sheets of its own scripts.
const dark = new CSSStyleSheet();
dark.replaceSync(`@media (prefers-color-scheme: dark) {
  html { background: #12181b; color-scheme: dark; }
  .swagger-ui { filter: invert(0.91) hue-rotate(180deg); }
  .swagger-ui .highlight-code, .swagger-ui .microlight, .swagger-ui .curl-command { filter: invert(1) hue-rotate(180deg); }
}`);
document.adoptedStyleSheets = [dark];

SwaggerUIBundle({
  url: "/openapi.yaml",
  dom_id: "#swagger-ui",
  deepLinking: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  // Each operation shows its own schemas; the list of all takes longer to draw than everything else.
  defaultModelsExpandDepth: -1,
  // The validator is somebody else's service.
  validatorUrl: null,
});
