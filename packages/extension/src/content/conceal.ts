/** Hides the values of secret fields, and the indicator, while a picture of the page is taken. */
import { rootsIn } from './dom/flat-tree.ts';
import { isSecret } from './dom/secrets.ts';
import { hideIndicator } from './indicator.ts';

/** The styles that fields had before. */
const concealed = new Map<HTMLElement, string | null>();

export function conceal(on: boolean): void {
  hideIndicator(on);
  if (on) for (const root of rootsIn(document)) hideIn(root);
  else restore();
}

function hideIn(root: Document | ShadowRoot): void {
  for (const field of root.querySelectorAll<HTMLElement>('input, textarea')) {
    if (concealed.has(field) || !isSecret(field)) continue;
    concealed.set(field, field.getAttribute('style'));
    field.style.setProperty('-webkit-text-security', 'disc', 'important');
  }
}

function restore(): void {
  for (const [field, style] of concealed)
    if (style === null) field.removeAttribute('style');
    else field.setAttribute('style', style);
  concealed.clear();
}
