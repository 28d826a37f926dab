// A color and a number for each player, in the order of the match; neighbors get very different colors.

const GOLDEN = 137.508; // degrees of hue from one player to the next

export class Colors {
  constructor() {
    this.known = new Map();
  }

  /** {number (from 1), css, rgb (from 0 to 1), ink (of text upon it)} for a player's name. */
  of(name) {
    if (!this.known.has(name)) {
      const number = this.known.size + 1;
      const hue = (210 + GOLDEN * (number - 1)) % 360;
      const rgb = rgbOf(hue, 0.68, 0.53);
      this.known.set(name, { number, rgb, ink: inkOn(rgb), css: `rgb(${rgb.map((part) => Math.round(255 * part)).join(" ")})` });
    }
    return this.known.get(name);
  }

  /** Gives an element the color of a player, and its text one that is seen upon it. */
  paint(element, name) {
    const { css, ink } = this.of(name);
    Object.assign(element.style, { background: css, color: ink });
  }
}

function rgbOf(hue, saturation, lightness) {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  return [0, 8, 4].map((n) => {
    const k = (n + hue / 30) % 12;
    return lightness - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1));
  });
}

/** Black or white, whichever is read more easily: the relative luminance of WCAG 2 decides. */
function inkOn(rgb) {
  const [r, g, b] = rgb.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000" : "#fff";
}
