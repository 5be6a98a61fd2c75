/** Temporary messages in a polite live region below the page, which makes room for them. */
import { ParlanceError } from '@parlance/sdk';
import { store, useStore } from '../state/store.ts';
import { Button, IconButton } from './button.tsx';

type ToastAction = { readonly label: string; readonly run: () => void };
type Toast = { readonly id: number; readonly text: string; readonly action?: ToastAction };

const toasts = store<readonly Toast[]>([]);
const SHOWN_MS = 6_000;
const SHOWN_WITH_ACTION_MS = 12_000;
let last = 0;

const drop = (id: number) => toasts.set(toasts.get().filter((toast) => toast.id !== id));

export function toast(text: string, action?: ToastAction): void {
  const id = ++last;
  const others = toasts.get().filter((other) => other.text !== text);
  toasts.set([...others.slice(-2), { id, text, action }]);
  setTimeout(() => drop(id), action ? SHOWN_WITH_ACTION_MS : SHOWN_MS);
}

/** Runs an action and shows a `ParlanceError` as a toast. Rethrows anything else. */
export async function attempt(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (thrown) {
    if (!(thrown instanceof ParlanceError)) throw thrown;
    toast(thrown.message);
    return false;
  }
}

export function Toasts() {
  const shown = useStore(toasts);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, action }) => (
        <div className="toast" key={id}>
          <span>{text}</span>
          {action && (
            <Button
              onClick={() => {
                drop(id);
                action.run();
              }}
            >
              {action.label}
            </Button>
          )}
          <IconButton icon="close" label="Dismiss" onClick={() => drop(id)} />
        </div>
      ))}
    </div>
  );
}
