/** Shows the guide on the start page if there is no session yet. */
import { ParlanceError } from '@parlance/sdk';
import { go } from '../../router.ts';
import { parlance } from '../../state/server.ts';

export async function guideAtFirst(): Promise<void> {
  if (location.hash !== '') return;
  try {
    const { sessions } = await parlance.sessions.list({ limit: 1, archived: 'included' });
    if (sessions.length === 0 && location.hash === '') go({ page: 'welcome' }, undefined, 'replace');
  } catch (thrown) {
    // The session list shows the error.
    if (!(thrown instanceof ParlanceError)) throw thrown;
  }
}
