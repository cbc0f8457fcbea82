// An expression for the page: the visible texts and placeholders whose contrast with their background is below 4.5 (WCAG 1.4.3).

function lowContrast() {
  const MIN = 4.5;
  const parts = color => {
    const [r, g, b, alpha = 1] = color.match(/[\d.]+/g).map(Number);
    return { rgb: color.startsWith("color(") ? [r, g, b].map(part => part * 255) : [r, g, b], alpha };
  };
  const over = ({ rgb, alpha }, below) => rgb.map((part, i) => part * alpha + below[i] * (1 - alpha));
  const luminance = rgb => {
    const linear = rgb.map(part => part / 255).map(part => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const parents = element => (element ? [...parents(element.parentElement), element] : []);
  const behind = element => parents(element).map(parent => parts(getComputedStyle(parent).backgroundColor)).reduce((below, color) => over(color, below), [255, 255, 255]);
  const contrast = (element, pseudo) => {
    const below = behind(element);
    const [light, dark] = [over(parts(getComputedStyle(element, pseudo).color), below), below].map(luminance).sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
  const isShown = element => element.checkVisibility({ opacityProperty: true }) && element.getBoundingClientRect().width > 2;
  const hasText = element => [...element.childNodes].some(({ nodeType, data }) => nodeType === Node.TEXT_NODE && data.trim());
  const texts = [...document.body.querySelectorAll("*")].filter(element => isShown(element) && (hasText(element) || element.placeholder));
  const judged = texts.map(element => [element, contrast(element, element.placeholder && "::placeholder")]);
  return judged.filter(([, ratio]) => ratio < MIN).map(([{ tagName, className }, ratio]) => `${tagName} ${className} ${ratio.toFixed(2)}`);
}

export const CONTRAST = `(${lowContrast})()`;
