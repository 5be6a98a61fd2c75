/** Desktop notifications for approvals and finished turns, while no tab of the console is visible. */
import { type ActivityEvent, ParlanceError, type Session } from '@parlance/sdk';
import { onActivity } from '@parlance/ui/state/activity.ts';
import { isAnyTabVisible, markVisible, whileVisible } from '@parlance/ui/state/presence.ts';
import { go } from '@parlance/ui/state/router.ts';
import { access, parlance } from '@parlance/ui/state/server.ts';
import { readStorage, writeStorage } from '@parlance/ui/state/storage.ts';
import { store, useStore } from '@parlance/ui/state/store.ts';

const NAME = 'parlance.notifications';

const canNotify = (): boolean => typeof Notification !== 'undefined';

const wanted = store<boolean>(readStorage('local', NAME) === 'on');
export const useNotifications = (): boolean => useStore(wanted);

/** Asks the browser for permission. Null if it was given, otherwise why not and what helps. */
export async function turnOnNotifications(): Promise<string | null> {
  if (!canNotify()) return whyUnavailable();
  const before = Notification.permission;
  const now = await Notification.requestPermission();
  set(now === 'granted');
  if (now === 'granted') return null;
  if (now === 'default')
    return 'The question of the browser was closed without an answer. Try again and choose Allow.';
  return before === 'denied'
    ? `Notifications of ${location.host} were blocked earlier, so the browser does not ask again. ${ALLOW_AGAIN}`
    : `The browser has blocked notifications of ${location.host}: by your answer, in a private window, or by a rule of your organisation. ${ALLOW_AGAIN}`;
}

const ALLOW_AGAIN =
  'Click the icon to the left of the address, allow notifications there, and reload this page.';

function whyUnavailable(): string {
  if (!isSecureContext)
    return `Browsers allow notifications only over https and on localhost, and this page is at ${location.origin}.`;
  if (/iPhone|iPad/.test(navigator.userAgent))
    return 'On iPhone and iPad, notifications need this page on the home screen: Share → Add to Home Screen.';
  return 'This browser has no desktop notifications.';
}

export const turnOffNotifications = (): void => set(false);

function set(on: boolean): void {
  wanted.set(on);
  writeStorage('local', NAME, on ? 'on' : null);
}

/** Events that are worth an interruption. */
const NOTIFIED = ['approval.requested', 'question.asked', 'turn.ended', 'turn.failed'] as const;
type NotifiedEvent = Extract<ActivityEvent, { type: (typeof NOTIFIED)[number] }>;

const isNoticed = (event: ActivityEvent): event is NotifiedEvent =>
  NOTIFIED.some((type) => type === event.type);

function textOf(event: NotifiedEvent): string {
  switch (event.type) {
    case 'approval.requested':
      return `Needs approval: ${event.ask.description}`;
    case 'question.asked':
      return `Asks: ${event.questions[0]?.text ?? ''}`;
    case 'turn.ended':
      return event.paused ? 'Paused at the limit of steps.' : 'The agent has finished.';
    case 'turn.failed':
      return `Failed: ${event.fault.message}`;
  }
}

/** Until stopped. Notifications are closed when the console is visible again. */
export function followNotifications(): () => void {
  const stops = [
    onActivity((event) => {
      if (isNoticed(event)) notify(event).catch((reason) => console.info('no notification:', reason));
    }),
    whileVisible(() => {
      void closeNotifications();
      return () => undefined;
    }),
    markVisible(),
    followClicks(),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

async function notify(event: NotifiedEvent): Promise<void> {
  if (!wanted.get() || !canNotify() || !concerns(event) || (await isAnyTabVisible())) return;
  const session = await sessionOf(event);
  // What a sub-agent asks and answers is news of the session that it works for.
  if (session?.parent !== undefined) return;
  // Clients of model APIs begin an ephemeral session for each request.
  if (session === null || (session.ephemeral && event.type !== 'approval.requested')) return;
  await showNotification({
    session: session.id,
    title: session.title || 'Untitled',
    body: textOf(event),
  });
}

/** Admins receive the events of all users, and may answer their approvals. */
function concerns(event: NotifiedEvent): boolean {
  const now = access.get();
  if (now.status !== 'in') return false;
  const { id, permissions } = now.about.principal;
  return event.type === 'approval.requested' ? permissions.includes('tool:approve') : event.owner === id;
}

/** Null if it was deleted since, or cannot be read now. */
async function sessionOf({ session }: NotifiedEvent): Promise<Session | null> {
  try {
    return await parlance.session(session).get();
  } catch (thrown) {
    if (!(thrown instanceof ParlanceError)) throw thrown;
    return null;
  }
}

// Notifications of the operating system. The service worker shows them if there is one: Chrome on Android refuses those
// of a page, and a worker can open the console after its tab was closed.

/** URL of the icon, defined by the build. */
declare const APP_ICON: string;

type SessionNotification = {
  readonly session: string;
  readonly title: string;
  readonly body: string;
};

const open = (id: string): void => go({ page: 'session', id });

/** Replaces an earlier one of the same session. */
async function showNotification({ session, title, body }: SessionNotification): Promise<void> {
  const options = { body, icon: APP_ICON, tag: session, renotify: true, data: { session } };
  const registration = await navigator.serviceWorker?.getRegistration();
  if (registration?.active) return registration.showNotification(title, options);
  const shown = new Notification(title, options);
  shown.onclick = () => {
    window.focus();
    open(session);
    shown.close();
  };
}

async function closeNotifications(): Promise<void> {
  const registration = await navigator.serviceWorker?.getRegistration();
  for (const shown of (await registration?.getNotifications()) ?? []) shown.close();
}

/** Opens the session of a notification that was clicked. Returns the stop function. */
function followClicks(): () => void {
  const clicked = ({ data }: MessageEvent) => {
    if (data?.type === 'session.open' && typeof data.session === 'string') open(data.session);
  };
  navigator.serviceWorker?.addEventListener('message', clicked);
  return () => navigator.serviceWorker?.removeEventListener('message', clicked);
}
