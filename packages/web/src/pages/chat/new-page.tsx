import { Page } from '../../components/page.tsx';

export function NewChatPage() {
  return <Page title="New session">…</Page>;
}
