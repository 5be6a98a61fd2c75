import { Page } from '../../components/page.tsx';

export function WelcomePage() {
  return <Page title="Guide">Nothing to see here yet.</Page>;
}
