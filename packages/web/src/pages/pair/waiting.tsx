/** In open mode: extensions that wait, beside the other approvals. */
import { parlance } from '@parlance/ui/state/server.ts';
import { usePolled } from '../../state/use-polled.ts';
import { RequestCard } from './request-card.tsx';

const LOOK_MS = 3_000;
const list = () => parlance.pairings.list();

export function WaitingExtensions() {
  const { value, again } = usePolled(list, LOOK_MS);
  return value?.waiting.map((request) => <RequestCard key={request.code} request={request} onDone={again} />);
}
