import { Page } from '../../components/page.tsx';

export function ApprovalsPage() {
  return <Page title="Approvals">Nothing to see here yet.</Page>;
}
