import { Page } from '../../components/page.tsx';

export function TimelinePage({ id }: { id: string | null }) {
  return <Page title="Timeline">{id === null ? 'Choose a session.' : id}</Page>;
}
