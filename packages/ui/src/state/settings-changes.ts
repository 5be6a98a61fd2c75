/** Changes of the server's settings, which admins make in other tabs and browsers. */
import type { ActivityEvent } from '@parlance/sdk';
import { onActivity } from './activity.ts';
import { refreshServer } from './server.ts';

/** After a gap in the activity, the settings may have changed, too. */
const TELLING: ReadonlySet<ActivityEvent['type']> = new Set<ActivityEvent['type']>([
  'ready',
  'missed',
  'settings.changed',
]);

/** Calls `listener` when the settings may have changed. Returns the unsubscribe function. */
export const onSettingsChange = (listener: () => void): (() => void) =>
  onActivity(({ type }) => {
    if (TELLING.has(type)) listener();
  });

/** Keeps `useServer` up to date until stopped. */
export const followServer = (): (() => void) => onSettingsChange(() => void refreshServer());
