/** What an element without a name shows: the icon that its markup refers to, or its colour and shape. */
import { oneLine } from './text.ts';

const MAX_LENGTH = 80;

/**
 * `trash` for `<i class="fa fa-trash">`, `<use href="#icon-trash">`, `class="trash"` or a picture `trash.png`. A class that
 * elements beside it have as well does not tell which one it is: then its colour and shape are added. Empty if nothing tells.
 */
export function appearanceOf(element: Element): string {
  const isWrapper = element.querySelector('input, textarea, select, button') !== null;
  const inner = isWrapper ? [] : element.querySelectorAll('i, svg, span, use, img, image');
  const parts = [element, ...inner].slice(0, 6);
  const first = (nameIn: (part: Element) => string): string => {
    for (const part of parts) {
      const name = nameIn(part);
      if (name !== '') return name;
    }
    return '';
  };
  const own = first(classWords);
  const name =
    first(referenced) ||
    first(prefixed) ||
    (hasTwin(element) ? '' : own) ||
    first(pictured) ||
    [own, looks(element)].filter((words) => words !== '').join(' ');
  return oneLine(name, MAX_LENGTH);
}

const hasTwin = (element: Element): boolean =>
  [...(element.parentElement?.children ?? [])]
    .slice(0, 30)
    .some((other) => other !== element && other.getAttribute('class') === element.getAttribute('class'));

/** Ids and file names as words, without what only says that it is an icon, and without sizes and hashes. */
const fileWords = (name: string): string =>
  name
    .replace(/\.(?:svg|png|gif|jpe?g|webp|avif|ico)$/i, '')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .split(/[-_.@\s]+/)
    .filter(
      (word) => /^[a-z]{2,20}$/i.test(word) && !/^(?:icon|icons|ic|img|image|symbol|sprite)$/i.test(word),
    )
    .slice(0, 4)
    .join(' ')
    .toLowerCase();

/** The symbol that an icon uses. */
function referenced(element: Element): string {
  if (element.localName !== 'use') return '';
  const href = element.getAttribute('href') ?? element.getAttribute('xlink:href') ?? '';
  return fileWords(href.slice(href.indexOf('#') + 1));
}

const classesOf = (element: Element): string[] =>
  (element.getAttribute('class') ?? '').split(/\s+/).filter((each) => each !== '');

/** `icon-trash`, `fa-trash`, `bi-trash` … */
function prefixed(element: Element): string {
  for (const name of classesOf(element)) {
    const found =
      /^(?:icon|fa|bi|mdi|glyphicon|lucide|ui-icon|octicon|codicon|feather|ti|ri)-([a-z-]{2,30})$/.exec(name);
    if (
      found?.[1] &&
      !/^(?:fw|lg|xs|sm|solid|regular|brands|spin|btn|button|only|link|wrapper)$/.test(found[1])
    )
      return found[1].replaceAll('-', ' ');
  }
  return '';
}

/** Says how something looks or is placed, not what it is. */
const UTILITY =
  /^(?:btn|button|icon|icons|link|control|item|clickable|active|hover|focus|selected|disabled|visible|hidden|show|hide|small|large|sm|md|lg|xl|left|right|top|bottom|center|clear(?:fix)?|pull|float|flex|grid|block|inline|relative|absolute|fixed|sticky|rounded|shadow|items|justify|self|text|font|bg|border|cursor|transition|duration|opacity|overflow|z|gap|space|leading|tracking|min|max|size|order|col|row|container|wrapper|inner|outer|box|card|content|ui|corner|state|widget|helper|sc|css|jsx|svelte|ng|v|js|fa|fas|far|fab|bi|mdi|material|glyphicon)$/;

/** Classes that are words, such as `trash` or `star clicked`. */
function classWords(element: Element): string {
  const names = classesOf(element).filter((name) => /^[a-z]{2,20}(?:-[a-z]{1,20}){0,3}$/i.test(name));
  const words = names
    .map((name) => name.replace(/^(?:ui|js|ql|btn|icon)-/, ''))
    .filter((name) => !UTILITY.test(name.split('-', 1)[0] ?? ''))
    .map((name) => name.replaceAll('-', ' '));
  return [...new Set(words)].slice(0, 3).join(' ');
}

/** The file of a picture, also of one that only the style sheet names. */
function pictured(element: Element): string {
  const own = element.getAttribute('src') ?? element.getAttribute('href') ?? '';
  const { content, backgroundImage, maskImage } = styleOf(element);
  const address =
    own !== '' && element.localName !== 'a'
      ? own
      : (/url\("?([^")]+)"?\)/.exec(`${content} ${backgroundImage} ${maskImage}`)?.[1] ?? '');
  if (address === '' || /^data:/i.test(address)) return '';
  const path = address.split(/[?#]/, 1)[0] ?? '';
  return fileWords(path.slice(path.lastIndexOf('/') + 1));
}

const styleOf = (element: Element): CSSStyleDeclaration =>
  (element.ownerDocument.defaultView ?? window).getComputedStyle(element);

const SHAPES: Readonly<Record<string, string>> = {
  circle: 'circle',
  ellipse: 'ellipse',
  rect: 'rectangle',
  line: 'line',
  polyline: 'line',
  polygon: 'polygon',
  path: 'shape',
  text: 'text',
};

/** A canvas, or an SVG that reacts to clicks: what matters is where it is pressed. */
export const isDrawing = ({ localName }: Element): boolean => localName === 'canvas' || localName === 'svg';

export const sizeOf = (element: Element): string => {
  const { width, height } = element.getBoundingClientRect();
  return `${Math.round(width)}×${Math.round(height)}`;
};

/** `red circle 20×20 at 45,60` of a shape in a drawing, `blue box 40×40` of a box; empty for what has no colour. */
export function looks(element: Element): string {
  if (isDrawing(element)) return element.localName === 'svg' ? 'drawing' : 'canvas';
  const drawing = (element as SVGElement).ownerSVGElement?.getBoundingClientRect();
  if (!drawing) {
    const color = colorName(styleOf(element).backgroundColor);
    return color === '' ? '' : `${color} box ${sizeOf(element)}`;
  }
  const shape = shapeOf(element);
  const { fill, stroke } = styleOf(element);
  const color = shape === '' ? '' : colorName(shape === 'line' ? stroke : fill) || colorName(stroke);
  return [color, shape || 'part', placeOf(element, drawing)].filter((word) => word !== '').join(' ');
}

/** In pixels of the page, from the left and the top of the drawing. */
function placeOf(element: Element, drawing: DOMRect): string {
  const at = (x: number, y: number): string =>
    `${Math.round(x - drawing.left)},${Math.round(y - drawing.top)}`;
  if (element.localName === 'line') {
    const { x1, y1, x2, y2 } = element as SVGLineElement;
    const matrix = (element as SVGLineElement).getScreenCTM() ?? new DOMMatrix();
    const [from, to] = [
      new DOMPoint(x1.baseVal.value, y1.baseVal.value).matrixTransform(matrix),
      new DOMPoint(x2.baseVal.value, y2.baseVal.value).matrixTransform(matrix),
    ];
    return `from ${at(from.x, from.y)} to ${at(to.x, to.y)}`;
  }
  const { left, top, width, height } = element.getBoundingClientRect();
  return `${sizeOf(element)} at ${at(left + width / 2, top + height / 2)}`;
}

/** A part of a drawing that is seen and has no text. */
export const isShape = (element: Element): boolean =>
  SHAPES[element.localName] !== undefined && element.localName !== 'text';

function shapeOf(element: Element): string {
  const known = SHAPES[element.localName] ?? '';
  if (element.localName === 'rect') {
    const { width, height } = element.getBoundingClientRect();
    return Math.abs(width - height) < 1 ? 'square' : known;
  }
  if (element.localName !== 'polygon') return known;
  const points = (element.getAttribute('points') ?? '').trim().split(/[\s,]+/).length / 2;
  return points === 3 ? 'triangle' : Number.isInteger(points) ? `polygon with ${points} sides` : known;
}

const HUES: readonly (readonly [upTo: number, name: string])[] = [
  [15, 'red'],
  [45, 'orange'],
  [70, 'yellow'],
  [165, 'green'],
  [200, 'cyan'],
  [255, 'blue'],
  [290, 'purple'],
  [330, 'magenta'],
  [345, 'pink'],
  [360, 'red'],
];

/** The name of a computed colour; empty if it is transparent. */
function colorName(color: string): string {
  const [red = 0, green = 0, blue = 0, alpha = 1] = (/^rgba?\(([^)]+)\)/.exec(color)?.[1] ?? '0 0 0 0')
    .split(/[\s,/]+/)
    .map(Number);
  if (alpha === 0) return '';
  const [max, min] = [Math.max(red, green, blue), Math.min(red, green, blue)];
  const light = (max + min) / 510;
  const chroma = max - min;
  if (light > 0.96) return 'white';
  if (light < 0.06) return 'black';
  if (chroma < 25) return light > 0.75 ? 'light gray' : light < 0.3 ? 'dark gray' : 'gray';
  const sector =
    max === red
      ? (green - blue) / chroma
      : max === green
        ? 2 + (blue - red) / chroma
        : 4 + (red - green) / chroma;
  const hue = (sector * 60 + 360) % 360;
  const name = HUES.find(([upTo]) => hue <= upTo)?.[1] ?? 'red';
  if (name === 'orange' && light < 0.35) return 'brown';
  return light > 0.72 ? `light ${name}` : light < 0.22 ? `dark ${name}` : name;
}
