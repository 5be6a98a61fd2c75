/** Limits the results of tools outside our code: number of parts, text, images and files. */
import { type PromptPart, textPart } from '@parlance/protocol';
import { cutText, RESULT_LIMIT } from './cut.ts';

const MAX_PARTS = 100;
/** Total of all images and files of one result, as base64. */
const BINARY_CHARACTERS = 4_000_000;

/** `partOf` converts one item; omitted items are not converted. */
export function boundedParts<Item>(given: readonly Item[], partOf: (item: Item) => PromptPart): PromptPart[] {
  const budget = { text: RESULT_LIMIT, binary: BINARY_CHARACTERS };
  const parts = given.slice(0, MAX_PARTS).map((item) => within(budget, partOf(item)));
  if (given.length > MAX_PARTS) parts.push(textPart(`[… ${given.length - MAX_PARTS} parts left out …]`));
  return parts;
}

function within(budget: { text: number; binary: number }, part: PromptPart): PromptPart {
  if (part.type === 'text') {
    const text = cutText(part.text, budget.text);
    budget.text = Math.max(0, budget.text - part.text.length);
    return textPart(text.toWellFormed());
  }
  const bytes = part.data.length;
  if (bytes > budget.binary) return textPart(`[${part.mime} of ${Math.floor(bytes * 0.75)} bytes left out]`);
  budget.binary -= bytes;
  return part;
}
