/** Root component: the login, a connection error, or the layout with the current page. */
import { Button, Empty } from '@parlance/ui/components/controls.tsx';
import { Boundary, NoAccess } from '@parlance/ui/components/no-access.tsx';
import { followActivity, followServer } from '@parlance/ui/state/activity.ts';
import { loadPrices } from '@parlance/ui/state/models.ts';
import { hrefOf, type Route, useLocation } from '@parlance/ui/state/router.ts';
import { loadServer, useAccess, useServer } from '@parlance/ui/state/server.ts';
import { forgetSessions } from '@parlance/ui/state/session.ts';
import { lazy, Suspense, useEffect, useState } from 'react';
import { Layout } from './layout/layout.tsx';
import { mayOpen } from './layout/pages.ts';
import { NewChatPage } from './pages/chat/new-page.tsx';
import { followApprovals } from './state/approvals.ts';
import { followNotifications } from './state/notifications.ts';

// The page of a new session is the first view; other pages are loaded on demand, and that of a session soon.

type ChatPage = typeof import('./pages/chat/page.tsx').ChatPage;
let chatPage: ChatPage | null = null;

async function loadChatPage(): Promise<{ default: ChatPage }> {
  const { ChatPage } = await import('./pages/chat/page.tsx');
  chatPage = ChatPage;
  return { default: ChatPage };
}

const LazyChatPage = lazy(loadChatPage);
/** Not at once: the first view comes first. */
const LOAD_CHAT_MS = 1_000;

/** A page that is there is shown at once: a lazy one would first be empty, and take the focus from the message field. */
function SessionPage({ id }: { readonly id: string }) {
  const [Chat] = useState(() => chatPage ?? LazyChatPage);
  return <Chat id={id} />;
}

const ApprovalsPage = lazy(() =>
  import('./pages/approvals/page.tsx').then((m) => ({ default: m.ApprovalsPage })),
);
const TimelinePage = lazy(() =>
  import('./pages/timeline/page.tsx').then((m) => ({ default: m.TimelinePage })),
);
const PlaygroundPage = lazy(() =>
  import('./pages/playground/page.tsx').then((m) => ({ default: m.PlaygroundPage })),
);
const AdminPage = lazy(() => import('./pages/admin/page.tsx').then((m) => ({ default: m.AdminPage })));
const SettingsPage = lazy(() =>
  import('./pages/settings/page.tsx').then((m) => ({ default: m.SettingsPage })),
);
const SignedInPage = lazy(() =>
  import('./pages/signed-in/page.tsx').then((m) => ({ default: m.SignedInPage })),
);
const PairPage = lazy(() => import('./pages/pair/page.tsx').then((m) => ({ default: m.PairPage })));
const WelcomePage = lazy(() => import('./pages/welcome/page.tsx').then((m) => ({ default: m.WelcomePage })));
const InvitationPage = lazy(() =>
  import('./pages/invitation/page.tsx').then((m) => ({ default: m.InvitationPage })),
);
const LoginPage = lazy(() => import('./pages/login/page.tsx').then((m) => ({ default: m.LoginPage })));

export function App() {
  const access = useAccess();
  const { route } = useLocation();
  if (route.page === 'invitation' && (access.status === 'in' || access.status === 'out'))
    return (
      <Suspense>
        <InvitationPage />
      </Suspense>
    );
  switch (access.status) {
    case 'asking':
      return <p className="starting">Parlance</p>;
    case 'unreachable':
      return <Unreachable />;
    case 'out':
      return (
        <Suspense>
          <LoginPage expired={access.expired} />
        </Suspense>
      );
    case 'in':
      if (route.page === 'login')
        return (
          <Suspense>
            <LoginPage expired={false} />
          </Suspense>
        );
      return <Inside key={access.about.principal.id} route={route} />;
  }
}

function Inside({ route }: { route: Route }) {
  useEffect(() => {
    void loadPrices();
    const unfollow = followApprovals();
    const unfollowServer = followServer();
    const stop = followActivity();
    const silence = followNotifications();
    // What cannot be loaded now is loaded when it is needed, with an error to see.
    const timer = setTimeout(() => void loadChatPage().catch(() => undefined), LOAD_CHAT_MS);
    return () => {
      clearTimeout(timer);
      silence();
      stop();
      unfollow();
      unfollowServer();
      forgetSessions();
    };
  }, []);
  return (
    <>
      <Layout route={route}>
        <Boundary key={hrefOf(route)}>
          <Suspense fallback={<div className="page" aria-busy="true" />}>
            <Page route={route} />
          </Suspense>
        </Boundary>
      </Layout>
      <GlobalKeys />
    </>
  );
}

function Page({ route }: { route: Route }) {
  if (!mayOpen(useServer(), route))
    return (
      <main className="page" id="main">
        <NoAccess />
      </main>
    );
  switch (route.page) {
    case 'new':
      return <NewChatPage />;
    case 'session':
      return <SessionPage key={route.id} id={route.id} />;
    case 'approvals':
      return <ApprovalsPage />;
    case 'timeline':
      return <TimelinePage key={route.id} id={route.id} />;
    case 'playground':
      return <PlaygroundPage />;
    case 'admin':
      return <AdminPage />;
    case 'settings':
      return <SettingsPage />;
    case 'pair':
      return <PairPage />;
    case 'signed-in':
      return <SignedInPage />;
    case 'welcome':
    case 'invitation':
    case 'login':
      return <WelcomePage />;
    case 'unknown':
      return (
        <main className="page">
          <Empty title="Page not found" action={<a href={hrefOf({ page: 'new' })}>Start a session</a>}>
            There is no page at <code>{route.path}</code>.
          </Empty>
        </main>
      );
  }
}

// Keys that work on every page: Ctrl-K opens the palette, `?` the list of keys.

const Palette = lazy(() => import('./layout/palette.tsx').then((m) => ({ default: m.Palette })));
const HelpDialog = lazy(() =>
  import('@parlance/ui/chat/commands.tsx').then((m) => ({ default: m.HelpDialog })),
);

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));

function GlobalKeys() {
  const [open, setOpen] = useState<'palette' | 'help' | null>(null);
  useEffect(() => {
    function pressed(event: KeyboardEvent): void {
      if (document.querySelector('dialog[open]')) return;
      if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k')
        setOpen('palette');
      else if (event.key === '?' && !isTyping(event.target)) setOpen('help');
      else return;
      event.preventDefault();
    }
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
  // The palette is closed after it has opened the help.
  const close = (dialog: typeof open) => setOpen((now) => (now === dialog ? null : now));
  return (
    <Suspense>
      {open === 'palette' && <Palette onClose={() => close('palette')} onHelp={() => setOpen('help')} />}
      {open === 'help' && <HelpDialog onClose={() => close('help')} />}
    </Suspense>
  );
}

// The server does not answer. Goes on by itself when it does.

const RETRY_MS = 3_000;

function Unreachable() {
  useEffect(() => {
    const timer = setInterval(() => void loadServer(), RETRY_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <main className="alone">
      <Empty title="Cannot reach the server" action={<Button onClick={loadServer}>Try again</Button>}>
        {navigator.onLine ? 'It may be stopped or still starting.' : 'This device is offline.'} This page
        reconnects automatically.
      </Empty>
    </main>
  );
}
