import type { SymbolName } from '../../src/reporting/charts/series-style.ts';

/** What of a canvas's path a symbol is made of. */
export interface SymbolPen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  closePath(): void;
  arc(x: number, y: number, radius: number, from: number, to: number): void;
}

/** Corners of unit size; a circle has none. */
const corners: Readonly<Record<Exclude<SymbolName, 'circle'>, readonly (readonly number[])[]>> = {
  square: [
    [-0.9, -0.9],
    [0.9, -0.9],
    [0.9, 0.9],
    [-0.9, 0.9],
  ],
  triangle: [
    [0, -1.2],
    [1.1, 0.8],
    [-1.1, 0.8],
  ],
  diamond: [
    [0, -1.3],
    [1, 0],
    [0, 1.3],
    [-1, 0],
  ],
  cross: crossCorners(1.2, 0.42),
  star: starCorners(1.35, 0.55),
};

/** Adds a symbol to the path, to be filled. */
export function addSymbol(
  pen: SymbolPen,
  name: SymbolName,
  x: number,
  y: number,
  radius: number,
): void {
  if (name === 'circle') {
    pen.moveTo(x + radius, y);
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    return;
  }
  for (const [place, [right, down]] of corners[name].entries()) {
    if (place === 0) pen.moveTo(x + right * radius, y + down * radius);
    else pen.lineTo(x + right * radius, y + down * radius);
  }
  pen.closePath();
}

/** The same as the path of an SVG. */
export function symbolPath(name: SymbolName, x: number, y: number, radius: number): string {
  if (name === 'circle') {
    const half = `a${radius} ${radius} 0 1 0`;
    return `M${x - radius} ${y}${half} ${2 * radius} 0${half} ${-2 * radius} 0z`;
  }
  const places = corners[name].map(([right, down]) =>
    [x + right * radius, y + down * radius].map((at) => Number(at.toFixed(2))).join(' '),
  );
  return `M${places.join('L')}z`;
}

function crossCorners(reach: number, half: number): number[][] {
  const quarter = [
    [half, -reach],
    [half, -half],
    [reach, -half],
  ];
  return Array.from({ length: 4 }, (_, turn) =>
    quarter.map(
      ([x, y]) =>
        [
          [x, y],
          [-y, x],
          [-x, -y],
          [y, -x],
        ][turn],
    ),
  ).flat();
}

function starCorners(reach: number, inner: number): number[][] {
  return Array.from({ length: 10 }, (_, corner) => {
    const length = corner % 2 === 0 ? reach : inner;
    const angle = (Math.PI * corner) / 5;
    return [length * Math.sin(angle), -length * Math.cos(angle)];
  });
}
