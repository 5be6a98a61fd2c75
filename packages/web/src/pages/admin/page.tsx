import { Page } from '../../components/page.tsx';

export function AdminPage() {
  return <Page title="Admin">Nothing to see here yet.</Page>;
}
