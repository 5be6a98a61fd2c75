/** Prompts that users have saved, which clients offer as slash commands. */
import { Fault, type PrincipalId } from '@parlance/protocol';
import { SavedPrompt, SavedPromptList } from '@parlance/protocol/api';
import type { PreferenceStore } from '../../accounts/store.ts';
import { requirePermission } from '../../core/index.ts';
import { KeyedQueue } from '../../lib/keyed-queue.ts';
import { endpoint } from './context.ts';

const MAX_PROMPTS = 200;

/** Beside the preferences of the same user. */
const documentOf = (user: PrincipalId) => `prompts:${user}` as PrincipalId;

/** One change of a user after the other. */
const changes = new KeyedQueue();

async function promptsOf(preferences: PreferenceStore, user: PrincipalId): Promise<SavedPrompt[]> {
  const stored = SavedPromptList.safeParse(await preferences.get(documentOf(user)));
  return stored.success ? stored.data.prompts : [];
}

const change = (
  preferences: PreferenceStore,
  user: PrincipalId,
  next: (before: readonly SavedPrompt[]) => SavedPrompt[],
): Promise<void> =>
  changes.run(user, async () => {
    const prompts = next(await promptsOf(preferences, user)).sort((a, b) => (a.name < b.name ? -1 : 1));
    await preferences.put(documentOf(user), { prompts });
  });

export const promptEndpoints = [
  endpoint({
    method: 'get',
    path: '/v1/prompts',
    summary: 'The prompts that the caller has saved, by name',
    answers: { 200: { description: 'The prompts', schema: 'SavedPromptList' } },
    errors: [401, 403],
    async handle({ principal }, { preferences }) {
      requirePermission(principal, 'chat:read');
      return { prompts: await promptsOf(preferences, principal.id) };
    },
  }),
  endpoint({
    method: 'post',
    path: '/v1/prompts',
    summary: 'Saves a prompt, in place of an earlier one with the same name',
    examples: () => [{ body: { name: 'review', text: 'Review this change for errors.' } }],
    body: SavedPrompt,
    answers: { 204: { description: 'Saved' } },
    errors: [400, 401, 403],
    async handle({ principal, body }, { preferences }) {
      requirePermission(principal, 'chat:send');
      await change(preferences, principal.id, (before) => {
        const others = before.filter(({ name }) => name !== body.name);
        if (others.length >= MAX_PROMPTS)
          throw new Fault('invalid', `There are ${MAX_PROMPTS} prompts already: remove one first.`);
        return [...others, body];
      });
    },
  }),
  endpoint({
    method: 'delete',
    path: '/v1/prompts/{name}',
    summary: 'Removes a saved prompt, if there is one with this name',
    examples: () => [{ params: { name: 'review' } }],
    params: SavedPrompt.pick({ name: true }),
    answers: { 204: { description: 'There is none now' } },
    errors: [400, 401, 403],
    async handle({ principal, params }, { preferences }) {
      requirePermission(principal, 'chat:send');
      await change(preferences, principal.id, (before) => before.filter(({ name }) => name !== params.name));
    },
  }),
];
