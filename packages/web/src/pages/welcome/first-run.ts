/** Whoever comes to no place in particular is shown the guide while there is no session yet. */
import { ParlanceError } from '@parlance/sdk';
import { go } from '../../router.ts';
import { parlance } from '../../state/server.ts';

export async function guideAtFirst(): Promise<void> {
  if (location.hash !== '') return;
  try {
    const { sessions } = await parlance.sessions.list({ limit: 1, archived: 'included' });
    if (sessions.length === 0 && location.hash === '') go({ page: 'welcome' }, undefined, 'replace');
  } catch (thrown) {
    // The list of sessions says what is wrong.
    if (!(thrown instanceof ParlanceError)) throw thrown;
  }
}
