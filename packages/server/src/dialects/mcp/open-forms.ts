/** Forms that clients show and calls wait for. */
import type { PrincipalId } from '@parlance/protocol';

/** `refused`: the client cannot show the form. */
export type FormOutcome = 'answered' | 'refused';

export class OpenForms {
  readonly #forms = new Map<string, (outcome: FormOutcome) => void>();

  /** Returns a function that removes the form. */
  add(principal: PrincipalId, id: string, settled: (outcome: FormOutcome) => void): () => void {
    const name = nameOf(principal, id);
    this.#forms.set(name, settled);
    return () => this.#forms.delete(name);
  }

  settle(principal: PrincipalId, id: string, outcome: FormOutcome): void {
    this.#forms.get(nameOf(principal, id))?.(outcome);
  }
}

const nameOf = (principal: PrincipalId, id: string): string => JSON.stringify([principal, id]);
