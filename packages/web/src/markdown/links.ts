/** Where text that a model wrote may lead. */

const LEADS = new Set(['http:', 'https:', 'mailto:']);

/** Null where it is not an address that may be followed: no scripts, no files, no places inside this page. */
export function followable(href: string): string | null {
  const url = URL.parse(href.trim());
  return url !== null && LEADS.has(url.protocol) ? url.href : null;
}

/** Pictures that came with the text itself; null for all that would have to be fetched, and for drawings that hold script. */
export function embedded(href: string): string | null {
  return /^data:image\/(png|jpeg|gif|webp);base64,[\w+/=]+$/i.test(href) ? href : null;
}
