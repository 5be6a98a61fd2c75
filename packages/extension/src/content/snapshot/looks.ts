/** How an element looks: hidden, where a frame is, what a picture shows. */
import { isInput, isTickedInput } from '../dom/kinds.ts';
import { clickTarget, type Point } from '../dom/visibility.ts';

export const viewOf = (element: Element): Window & typeof globalThis =>
  element.ownerDocument.defaultView ?? window;

/** Not rendered, transparent, or collapsed to nothing. */
export function isConcealed(element: HTMLElement, style: CSSStyleDeclaration): boolean {
  if (style.display === 'none' || style.opacity === '0' || style.contentVisibility === 'hidden') return true;
  if (style.overflowX === 'visible' && style.clipPath === 'none' && style.clip === 'auto') return false;
  if (style.display === 'inline' || style.display === 'contents') return false;
  const { width, height } = element.getBoundingClientRect();
  return width <= 1 || height <= 1;
}

/** A hidden field that its visible label stands for, or a part of a picture. */
export const isProxied = (element: Element): boolean =>
  (isTickedInput(element) || (isInput(element) && element.type === 'file') || element.localName === 'area') &&
  clickTarget(element) !== null;

export const siteOf = (frame: Element): string =>
  URL.parse(frame.getAttribute('src') ?? '', frame.ownerDocument.baseURI)?.origin ?? 'unknown';

export function originOf(frame: Element, { x, y }: Point): Point {
  const { left, top } = frame.getBoundingClientRect();
  return { x: x + left + frame.clientLeft, y: y + top + frame.clientTop };
}

export function pictureText(element: Element): string {
  if (element.localName === 'img') return element.getAttribute('alt')?.trim() ?? '';
  return element.localName === 'svg' ? (element.getAttribute('aria-label')?.trim() ?? '') : '';
}
