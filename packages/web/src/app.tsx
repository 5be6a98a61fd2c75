/** Root component: the login, a connection error, or the layout with the current page. */

import { Boundary } from '@parlance/ui/components/boundary.tsx';
import { Empty } from '@parlance/ui/components/empty.tsx';
import { NoAccess } from '@parlance/ui/components/no-access.tsx';
import { followActivity } from '@parlance/ui/state/activity.ts';
import { loadPrices } from '@parlance/ui/state/prices.ts';
import { hrefOf, type Route, useLocation } from '@parlance/ui/state/router.ts';
import { useAccess, useServer } from '@parlance/ui/state/server.ts';
import { forgetSessions } from '@parlance/ui/state/session.ts';
import { followServer } from '@parlance/ui/state/settings-changes.ts';
import { lazy, Suspense, useEffect } from 'react';
import { GlobalKeys } from './layout/global-keys.tsx';
import { Layout } from './layout/layout.tsx';
import { mayOpen } from './layout/pages.ts';
import { NewChatPage } from './pages/chat/new-page.tsx';
import { ChatPage } from './pages/chat/page.tsx';
import { Unreachable } from './pages/unreachable.tsx';
import { followApprovals } from './state/approvals.ts';
import { followNotifications } from './state/notifications.ts';

// The chat is the first view; other pages are loaded on demand.
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
const PairPage = lazy(() => import('./pages/pair/page.tsx').then((m) => ({ default: m.PairPage })));
const WelcomePage = lazy(() => import('./pages/welcome/page.tsx').then((m) => ({ default: m.WelcomePage })));
const LoginPage = lazy(() => import('./pages/login/page.tsx').then((m) => ({ default: m.LoginPage })));

export function App() {
  const access = useAccess();
  const { route } = useLocation();
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
    return () => {
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
      return <ChatPage key={route.id} id={route.id} />;
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
    case 'welcome':
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
