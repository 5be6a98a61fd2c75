import { ParlanceError } from '@parlance/sdk';

/** Throws `invalid` if the name is taken, maybe by another admin since the dialog was opened. */
export function requireNew(name: string, taken: readonly string[]): void {
  if (taken.includes(name))
    throw new ParlanceError('invalid', `“${name}” exists already. Choose another name.`);
}
