/** Values of input fields with a format: what a person writes, as the field takes it. */

/** What a field takes, for messages. */
export const FORMATS: ReadonlyMap<string, string> = new Map([
  ['date', 'a date such as 2026-12-24'],
  ['time', 'a time such as 14:30'],
  ['datetime-local', 'a date and time such as 2026-12-24T14:30'],
  ['month', 'a month such as 2026-12'],
  ['week', 'a week such as 2026-W52'],
  ['number', 'a number'],
  ['range', 'a number'],
  ['color', 'a colour such as #ff8800'],
]);

/** Null if it cannot be read. */
export function normalised(field: HTMLInputElement, text: string): string | null {
  const trimmed = text.trim();
  switch (field.type) {
    case 'date':
      return dateOf(trimmed);
    case 'time':
      return timeOf(trimmed);
    case 'datetime-local':
      return dateTimeOf(trimmed);
    case 'month':
      return /^\d{4}-\d{2}$/.test(trimmed)
        ? trimmed
        : ((dateOf(`1 ${trimmed}`) ?? dateOf(trimmed))?.slice(0, 7) ?? null);
    case 'number':
    case 'range':
      return numberIn(trimmed);
    case 'color':
      return colorOf(trimmed, field.ownerDocument);
    default:
      return trimmed;
  }
}

const two = (part: string | number): string => String(part).padStart(2, '0');

/** ISO, 24.12.2026, 12/24/2026 (24/12/2026 where the month cannot be first), or with the name of the month. */
export function dateOf(text: string): string | null {
  const iso = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:T.*)?$/.exec(text);
  if (iso) return checked(Number(iso[1]), Number(iso[2]), Number(iso[3]));
  const dotted = /^(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})$/.exec(text);
  if (dotted) return checked(Number(dotted[3]), Number(dotted[2]), Number(dotted[1]));
  const slashed = /^(\d{1,2})[/-](\d{1,2})[/-](\d{4})$/.exec(text);
  if (slashed) {
    const [first, second, year] = [Number(slashed[1]), Number(slashed[2]), Number(slashed[3])];
    return first > 12 ? checked(year, second, first) : checked(year, first, second);
  }
  if (!/[a-z]{3}/i.test(text) || !/\d{4}/.test(text)) return null;
  const parsed = new Date(text.replace(/(\d)(?:st|nd|rd|th)\b/g, '$1').replace(/\bof\b/g, ' '));
  if (Number.isNaN(parsed.getTime())) return null;
  return checked(parsed.getFullYear(), parsed.getMonth() + 1, parsed.getDate());
}

/** Null for a day that does not exist. */
function checked(year: number, month: number, day: number): string | null {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
    ? `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
    : null;
}

export function timeOf(text: string): string | null {
  const match = /^(\d{1,2})(?:[:.](\d{2})(?::(\d{2}))?)?\s*(?:([ap])\.?m\.?)?$/i.exec(text);
  if (!match) return null;
  const [, hour = '', minute = '00', second, half] = match;
  if (!text.includes(':') && !text.includes('.') && !half) return null;
  const plain = Number(hour);
  if (half && (plain < 1 || plain > 12)) return null;
  const hours = half ? (plain % 12) + (half.toLowerCase() === 'p' ? 12 : 0) : plain;
  if (hours > 23 || Number(minute) > 59) return null;
  return `${two(hours)}:${minute}${second ? `:${second}` : ''}`;
}

function dateTimeOf(text: string): string | null {
  const parts = /^(.*\d{4}|\d{4}-\d{2}-\d{2})(?:T|,?\s+(?:at\s+)?)(\d{1,2}.*)$/i.exec(text);
  const [date, time] = [dateOf(parts?.[1] ?? ''), timeOf(parts?.[2] ?? '')];
  return date && time ? `${date}T${time}` : null;
}

function numberIn(text: string): string | null {
  const plain = text.replace(/[\s'_]/g, '');
  const grouped = /^-?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(plain)
    ? plain.replaceAll(',', '')
    : plain.replace(',', '.');
  const digits = grouped.replace(/^[$€£¥]|[$€£¥%]$/g, '');
  return digits !== '' && Number.isFinite(Number(digits)) ? digits : null;
}

function colorOf(text: string, document: Document): string | null {
  if (/^#[0-9a-f]{6}$/i.test(text)) return text.toLowerCase();
  const context = document.createElement('canvas').getContext('2d');
  if (!context || !CSS.supports('color', text)) return null;
  context.fillStyle = text;
  return /^#[0-9a-f]{6}$/.test(context.fillStyle) ? context.fillStyle : null;
}
