/** Modal dialog. The browser traps the focus and closes it with Escape. */
import { ParlanceError } from '@parlance/sdk';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { createPortal } from 'react-dom';
import { Button } from './button.tsx';
import { Notice } from './notice.tsx';
import { useModal } from './use-modal.ts';

type DialogProps = {
  readonly title: string;
  readonly children: ReactNode;
  /** label of the confirm button */
  readonly confirm: string;
  readonly danger?: boolean;
  /** there is nothing to decide: the confirm button closes it */
  readonly plain?: boolean;
  /** Form fields by name. The dialog stays open until a promise resolves, and shows a `ParlanceError`. */
  readonly onConfirm: (fields: FormData) => unknown;
  readonly onClose: () => void;
};

export function Dialog(props: DialogProps) {
  const { title, children, confirm, danger = false, plain = false, onConfirm, onClose } = props;
  const dialog = useModal();
  const label = useId();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    event.stopPropagation();
    if (!busy) void run(new FormData(event.currentTarget));
  }

  async function run(fields: FormData): Promise<void> {
    setProblem(null);
    setBusy(true);
    try {
      await onConfirm(fields);
      dialog.current?.close();
    } catch (thrown) {
      if (!(thrown instanceof ParlanceError)) throw thrown;
      setProblem(thrown.message);
    } finally {
      setBusy(false);
    }
  }

  // Outside of the page's own forms, which would be submitted with it.
  return createPortal(
    <dialog ref={dialog} className="dialog" aria-labelledby={label} onClose={onClose}>
      <form onSubmit={submit}>
        <h2 id={label}>{title}</h2>
        {children}
        {problem !== null && <Notice variant="danger">{problem}</Notice>}
        <div className="dialog-buttons">
          {!plain && <Button onClick={() => dialog.current?.close()}>Cancel</Button>}
          <Button type="submit" variant={danger ? 'danger' : 'primary'} aria-disabled={busy || undefined}>
            {confirm}
          </Button>
        </div>
      </form>
    </dialog>,
    document.body,
  );
}
