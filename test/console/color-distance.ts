/** Colours as people see them: their distance and contrast, also with two kinds of colour blindness. */

type Triple = readonly [number, number, number];
type Matrix = readonly [Triple, Triple, Triple];

/** Linear RGB as seen without one kind of cones: Machado, Oliveira and Fernandes 2009, severity 1. */
export const visions: Readonly<Record<"normal" | "protan" | "deutan", Matrix>> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
};

const toXyz: Matrix = [
  [0.4124564, 0.3575761, 0.1804375],
  [0.2126729, 0.7151522, 0.072175],
  [0.0193339, 0.119192, 0.9503041],
];
const white: Triple = [0.95047, 1, 1.08883];

const times = (matrix: Matrix, [a, b, c]: Triple): Triple => {
  const row = ([x, y, z]: Triple) => x * a + y * b + z * c;
  return [row(matrix[0]), row(matrix[1]), row(matrix[2])];
};
const each = ([a, b, c]: Triple, change: (value: number) => number): Triple => [
  change(a),
  change(b),
  change(c),
];

/** `#rrggbb` in linear RGB. */
function linear(hex: string): Triple {
  const at = (start: number) => Number.parseInt(hex.slice(start, start + 2), 16) / 255;
  return each([at(1), at(3), at(5)], (value) =>
    value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4,
  );
}

/** CIELAB of a colour as seen with this vision. */
export function labOf(hex: string, vision: Matrix): Triple {
  const seen = each(times(vision, linear(hex)), (value) => Math.min(1, Math.max(0, value)));
  const [x, y, z] = times(toXyz, seen);
  const root = (value: number) =>
    value > 216 / 24389 ? Math.cbrt(value) : ((24389 / 27) * value + 16) / 116;
  const [fx, fy, fz] = [root(x / white[0]), root(y / white[1]), root(z / white[2])];
  return [116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)];
}

/** The contrast of WCAG. */
export function contrast(one: string, other: string): number {
  const luminance = (hex: string) => times(toXyz, linear(hex))[1];
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const degrees = Math.PI / 180;

/** CIEDE2000. */
export function distance([l1, a1, b1]: Triple, [l2, a2, b2]: Triple): number {
  const meanOf = (one: number, other: number) => (one + other) / 2;
  const seventh = (chroma: number) => Math.sqrt(chroma ** 7 / (chroma ** 7 + 25 ** 7));
  const stretch = 1 + (1 - seventh(meanOf(Math.hypot(a1, b1), Math.hypot(a2, b2)))) / 2;
  const [c1, c2] = [Math.hypot(a1 * stretch, b1), Math.hypot(a2 * stretch, b2)];
  const hueOf = (a: number, b: number) => (Math.atan2(b, a * stretch) / degrees + 360) % 360;
  const [h1, h2] = [hueOf(a1, b1), hueOf(a2, b2)];
  const isGrey = c1 * c2 === 0;
  const turn = h2 - h1;
  const hueStep = isGrey ? 0 : turn > 180 ? turn - 360 : turn < -180 ? turn + 360 : turn;
  const hue = isGrey
    ? h1 + h2
    : Math.abs(turn) <= 180
      ? meanOf(h1, h2)
      : h1 + h2 < 360
        ? meanOf(h1, h2) + 180
        : meanOf(h1, h2) - 180;
  const lightness = meanOf(l1, l2);
  const chroma = meanOf(c1, c2);
  const cosine = (angle: number) => Math.cos(angle * degrees);
  const hueWeight =
    1 -
    0.17 * cosine(hue - 30) +
    0.24 * cosine(2 * hue) +
    0.32 * cosine(3 * hue + 6) -
    0.2 * cosine(4 * hue - 63);
  const fromGrey = (lightness - 50) ** 2;
  const inLightness = (l2 - l1) / (1 + (0.015 * fromGrey) / Math.sqrt(20 + fromGrey));
  const inChroma = (c2 - c1) / (1 + 0.045 * chroma);
  const inHue =
    (2 * Math.sqrt(c1 * c2) * Math.sin((hueStep / 2) * degrees)) / (1 + 0.015 * chroma * hueWeight);
  const rotation = -2 * seventh(chroma) * Math.sin(60 * degrees * Math.exp(-(((hue - 275) / 25) ** 2)));
  return Math.sqrt(inLightness ** 2 + inChroma ** 2 + inHue ** 2 + rotation * inChroma * inHue);
}
