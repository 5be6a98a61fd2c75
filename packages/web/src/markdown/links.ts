/** Which links in model output may be followed. */

const LEADS = new Set(['http:', 'https:', 'mailto:']);

/** Null unless it is a web or mail address: no scripts, files or places inside this page. */
export function followable(href: string): string | null {
  const url = URL.parse(href.trim());
  return url !== null && LEADS.has(url.protocol) ? url.href : null;
}

/** Inline images of the text; null for remote images and for SVG, which can contain scripts. */
export function embedded(href: string): string | null {
  return /^data:image\/(png|jpeg|gif|webp);base64,[\w+/=]+$/i.test(href) ? href : null;
}
