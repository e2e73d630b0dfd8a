import { xmlSafe } from '../../../src/reporting/format.ts';

/** A figure of the page as a file: an SVG that needs no style sheet, or a picture of it. */

/** Properties that a viewer needs, which the elements inside inherit. */
const inheritable = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-opacity',
  'stroke-width',
  'stroke-dasharray',
  'stroke-linecap',
  'stroke-linejoin',
  'font-family',
  'font-size',
  'font-style',
  'font-weight',
  'text-anchor',
];

/** Properties that are not inherited, with the value that need not be written. */
const ownValues: Readonly<Record<string, string>> = { opacity: '1', 'vector-effect': 'none' };

/** The light theme, in which figures leave the page whatever the page looks like. */
const lightTheme: Readonly<Record<string, string>> = {
  '--text': '#1f2328',
  '--text-soft': '#57606a',
  '--paper': '#ffffff',
  '--card': '#ffffff',
  '--line': '#d0d7de',
  '--accent': '#0072B2',
  '--good': '#00795a',
  '--bad': '#b64400',
  '--warn': '#8a5a00',
  '--s0': '#0072B2',
  '--s1': '#D55E00',
  '--s2': '#009E73',
  '--s3': '#CC79A7',
  '--s4': '#E69F00',
  '--s5': '#56B4E9',
  '--s6': '#8C8C8C',
};

const namespace = 'http://www.w3.org/2000/svg';

/** color(srgb 0.5 0 1) → rgb(128, 0, 255): mixed colours, as every viewer understands them. */
function plainColor(value: string): string {
  return value.replace(/color\(srgb ([^)]*)\)/g, (_, inner: string) => {
    const [red, green, blue, opacity] = inner.split(/[ /]+/).map(Number);
    const parts = [red, green, blue].map((part) => Math.round(255 * part)).join(', ');
    return opacity === undefined ? `rgb(${parts})` : `rgba(${parts}, ${opacity})`;
  });
}

/** Writes the computed style into attributes, without inherited values. */
function writeAttributes(element: Element, inherited: Readonly<Record<string, string>>): void {
  const style = getComputedStyle(element);
  const write = (name: string, redundant: string | undefined) => {
    const value = plainColor(style.getPropertyValue(name));
    element.removeAttribute(name);
    if (value !== '' && value !== redundant) element.setAttribute(name, value);
    return [name, value];
  };
  const own = Object.fromEntries(inheritable.map((name) => write(name, inherited[name])));
  for (const [name, redundant] of Object.entries(ownValues)) write(name, redundant);
  for (const child of element.children) writeAttributes(child, own);
}

/** Removes classes, attributes of listeners and elements that are only for the pointer. */
function strip(element: Element): void {
  for (const part of element.querySelectorAll('[data-screen-only]')) part.remove();
  const marks = ['class', 'style', 'tabindex', 'role'];
  for (const part of [element, ...element.querySelectorAll('*')]) {
    for (const name of part.getAttributeNames()) {
      if (marks.includes(name) || /^(aria|data)-/.test(name)) part.removeAttribute(name);
    }
  }
}

/** White around the figure, in pixels. */
const margin = 8;

function setAttributes(element: Element, values: Readonly<Record<string, string | number>>): void {
  for (const [name, value] of Object.entries(values)) element.setAttribute(name, String(value));
}

/** The text of an SVG file of a figure that is on the page. */
export function figureText(figure: SVGSVGElement): string {
  const box = figure.getBoundingClientRect();
  const [width, height] = [box.width + 2 * margin, box.height + 2 * margin];
  const host = document.createElement('div');
  host.style.cssText = 'position: absolute; left: -10000px; top: 0; color-scheme: light';
  for (const [name, color] of Object.entries(lightTheme)) host.style.setProperty(name, color);
  const copy = figure.cloneNode(true) as SVGSVGElement;
  host.append(copy);
  // Next to the original, where the same rules of the style sheets hold.
  figure.after(host);
  try {
    writeAttributes(copy, {});
  } finally {
    host.remove();
  }
  strip(copy);
  const ground = document.createElementNS(namespace, 'rect');
  setAttributes(ground, { x: -margin, y: -margin, width, height, fill: '#ffffff' });
  copy.prepend(ground);
  const viewBox = `${-margin} ${-margin} ${width} ${height}`;
  setAttributes(copy, { xmlns: namespace, width, height, viewBox });
  // Without the comments of Svelte.
  const text = new XMLSerializer().serializeToString(copy).replaceAll(/<!--.*?-->/gs, '');
  return `${xmlSafe(text)}\n`;
}

/** Hands a file to the person at the browser. */
export function download(file: Blob, name: string): void {
  const address = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser has to have begun before the address may go.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export function saveSvg(figure: SVGSVGElement, name: string): void {
  download(new Blob([figureText(figure)], { type: 'image/svg+xml' }), `${name}.svg`);
}

/** Pixels of the picture for each of the page. */
const density = 2;

async function drawn(text: string): Promise<HTMLCanvasElement> {
  const address = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = Math.round(density * image.width);
    canvas.height = Math.round(density * image.height);
    const context = canvas.getContext('2d');
    if (!context) throw new Error('the browser provides no canvas for the picture');
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return canvas;
  } finally {
    URL.revokeObjectURL(address);
  }
}

export async function savePng(figure: SVGSVGElement, name: string): Promise<void> {
  const canvas = await drawn(figureText(figure));
  const file = await new Promise<Blob | null>((resolve) => {
    canvas.toBlob(resolve, 'image/png');
  });
  if (!file) throw new Error('the browser could not make a PNG of the picture');
  download(file, `${name}.png`);
}
