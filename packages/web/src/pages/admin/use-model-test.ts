/** The form that connects a model: its fields, and the test of what was entered. */
import { type ModelListing, ParlanceError, type Settings } from '@parlance/sdk';
import { useState } from 'react';
import { parlance } from '../../state/server.ts';
import { type Choice, type Fields, fieldsOf, modelProblem, problemIn, questionOf } from './vendors.ts';

export type Tested =
  | { readonly state: 'testing' }
  | { readonly state: 'failed'; readonly problem: string; readonly mayBeSaved: boolean }
  | { readonly state: 'listed'; readonly listing: ModelListing; readonly problem: string | null };

type Connecting = Fields & { readonly choice: Exclude<Choice, 'offline'> };
const isConnecting = (fields: Fields): fields is Connecting => fields.choice !== 'offline';

export function useModelTest(settings: Settings) {
  const [fields, setFields] = useState<Fields>(() => fieldsOf(settings));
  const [tested, setTested] = useState<Tested | null>(null);

  function change(changed: Partial<Fields>): void {
    setFields((before) => ({ ...before, ...changed }));
    setTested((before) =>
      changed.model !== undefined && before?.state === 'listed' ? { ...before, problem: null } : null,
    );
  }

  async function listed(wanted: Connecting): Promise<Tested> {
    const problem = problemIn(wanted);
    if (problem !== null) return { state: 'failed', problem, mayBeSaved: false };
    try {
      const listing = await parlance.admin.models(questionOf(wanted, settings.given));
      return { state: 'listed', listing, problem: null };
    } catch (thrown) {
      if (!(thrown instanceof ParlanceError)) throw thrown;
      // A server of one's own has no default model.
      const mayBeSaved = wanted.choice !== 'compatible' || wanted.model.trim() !== '';
      return { state: 'failed', problem: thrown.message, mayBeSaved };
    }
  }

  /** Shows the result. Returns the fields with the address that answered; null if they cannot be used. */
  async function test(forUse: boolean): Promise<Fields | null> {
    if (!isConnecting(fields)) return fields;
    setTested({ state: 'testing' });
    const result = await listed(fields);
    if (result.state !== 'listed') {
      setTested(result);
      return null;
    }
    const { listing } = result;
    const [only] = listing.models.length === 1 ? listing.models : [];
    const isEmpty = fields.choice === 'compatible' && fields.model.trim() === '';
    const complete: Fields = {
      ...fields,
      address: fields.choice === 'compatible' ? listing.address : '',
      model: isEmpty ? (only ?? '') : fields.model,
    };
    const problem = forUse ? modelProblem(complete, listing) : null;
    setFields(complete);
    setTested({ ...result, problem });
    return problem === null ? complete : null;
  }

  return { fields, change, tested, test };
}
