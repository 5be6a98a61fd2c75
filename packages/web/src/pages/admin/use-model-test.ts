/** The form that connects a model: its fields, and the test of what was entered. */
import { type ModelListing, ParlanceError, type Settings } from '@parlance/sdk';
import { parlance } from '@parlance/ui/state/server.ts';
import { useState } from 'react';
import { isSame } from './draft.ts';
import { useDraft } from './use-draft.ts';
import {
  type Chosen,
  type Fields,
  fieldsOf,
  mergedFields,
  modelProblem,
  problemIn,
  questionOf,
  type Vendors,
} from './vendors.ts';

export type Tested =
  | { readonly state: 'testing' }
  | { readonly state: 'failed'; readonly problem: string; readonly mayBeSaved: boolean }
  | { readonly state: 'listed'; readonly listing: ModelListing; readonly problem: string | null };

const isChosen = (fields: Fields): fields is Chosen => fields.choice !== null;

/** The fields that a test is about. */
const serverOf = ({ choice, address, key }: Fields) => ({ choice, address, key });

export function useModelTest(settings: Settings, vendors: Vendors) {
  const draft = useDraft<Fields>(fieldsOf(settings, vendors), mergedFields);
  const { fields } = draft;
  const [last, setLast] = useState<{ readonly of: object; readonly tested: Tested } | null>(null);
  /** of another server once the fields are about another one */
  const tested = last && isSame(last.of, serverOf(fields)) ? last.tested : null;

  function change(changed: Partial<Fields>): void {
    draft.change(changed);
    setLast((before) =>
      changed.model !== undefined && before?.tested.state === 'listed'
        ? { ...before, tested: { ...before.tested, problem: null } }
        : null,
    );
  }

  async function listed(wanted: Chosen): Promise<Tested> {
    const problem = problemIn(wanted);
    if (problem !== null) return { state: 'failed', problem, mayBeSaved: false };
    try {
      const listing = await parlance.admin.models(questionOf(wanted, settings.given, vendors));
      return { state: 'listed', listing, problem: null };
    } catch (thrown) {
      if (!(thrown instanceof ParlanceError)) throw thrown;
      // A server of one's own has no default model.
      const mayBeSaved = wanted.choice !== 'compatible' || wanted.model.trim() !== '';
      return { state: 'failed', problem: thrown.message, mayBeSaved };
    }
  }

  /** Shows the result. Returns the fields with the address that answered; null if they cannot be used. */
  async function test(forUse: boolean): Promise<Chosen | null> {
    if (!isChosen(fields)) return null;
    if (fields.choice === 'offline') return fields;
    const of = serverOf(fields);
    setLast({ of, tested: { state: 'testing' } });
    const result = await listed(fields);
    if (result.state !== 'listed') {
      setLast({ of, tested: result });
      return null;
    }
    const { listing } = result;
    const [only] = listing.models.length === 1 ? listing.models : [];
    const isOwnServer = fields.choice === 'compatible';
    // What is entered during the test stays.
    const completed: Partial<Pick<Fields, 'address' | 'model'>> = {
      ...(isOwnServer && { address: listing.address }),
      ...(isOwnServer && fields.model.trim() === '' && only !== undefined && { model: only }),
    };
    const complete = { ...fields, ...completed };
    const problem = forUse ? modelProblem(complete, listing) : null;
    draft.change(completed);
    setLast({ of: serverOf(complete), tested: { ...result, problem } });
    return problem === null ? complete : null;
  }

  function reset(): void {
    draft.reset();
    setLast(null);
  }

  return { fields, change, tested, test, isOutdated: draft.isOutdated, reset };
}
