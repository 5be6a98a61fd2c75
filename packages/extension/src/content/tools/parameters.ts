/** Parameters of browser tools. They come from a model, so nothing about them is certain. */
import { rootsIn } from '../dom/flat-tree.ts';
import { PageFailure } from '../page-error.ts';

export type Parameters = Readonly<Record<string, unknown>>;

export function textIn(parameters: Parameters, name: string): string {
  const value = parameters[name];
  if (typeof value !== 'string') throw new PageFailure('INVALID_VALUE', `The parameter ${name} is missing.`);
  return value;
}

/** Also in frames of the same origin and in shadow roots. */
export function elementSelected(selector: string): HTMLElement {
  try {
    for (const root of rootsIn(document)) {
      const found = root.querySelector<HTMLElement>(selector);
      if (found) return found;
    }
  } catch {
    throw new PageFailure(
      'INVALID_VALUE',
      `${JSON.stringify(selector.slice(0, 200))} is not a CSS selector.`,
    );
  }
  throw new PageFailure(
    'ELEMENT_NOT_FOUND',
    `Nothing on the page matches ${JSON.stringify(selector.slice(0, 200))}.`,
  );
}
