const EXTENSION = /^(?:chrome|moz)-extension:\/\/[a-z0-9-]+$/;

/** The origin of an address as a person enters or pastes it, or null if it has none that can be allowed. */
export function originIn(entered: string): string | null {
  const text = entered.trim().replace(/\/$/, '');
  if (EXTENSION.test(text)) return text;
  const url = text.includes('*') ? null : URL.parse(text);
  return url && /^https?:$/.test(url.protocol) ? url.origin : null;
}
