/** Areas of image maps. They have no box of their own: they are parts of a picture. */

/** The rendered picture of an area; null for other elements. */
export function pictureOf(area: Element): Element | null {
  if (area.localName !== 'area') return null;
  const name = area.closest('map')?.getAttribute('name');
  const picture = name ? area.ownerDocument.querySelector(`img[usemap="#${CSS.escape(name)}"]`) : null;
  return picture?.checkVisibility() ? picture : null;
}

/** The middle of the area in its document. */
export function middleOf(area: Element, picture: Element): { x: number; y: number } {
  const { left, top, width, height } = picture.getBoundingClientRect();
  const numbers = (area.getAttribute('coords') ?? '').split(/[\s,]+/).map(Number);
  if (numbers.some(Number.isNaN) || numbers.length < 3) return { x: left + width / 2, y: top + height / 2 };
  const [x = 0, y = 0] = numbers;
  if (numbers.length === 3) return { x: left + x, y: top + y };
  const mean = (odd: 0 | 1): number => {
    const axis = numbers.filter((_, index) => index % 2 === odd);
    return axis.reduce((sum, each) => sum + each, 0) / axis.length;
  };
  return { x: left + mean(0), y: top + mean(1) };
}
