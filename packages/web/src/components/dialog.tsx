/** Modal dialog. The browser traps the focus and closes it with Escape. */
import { type FormEvent, type ReactNode, useEffect, useId, useRef } from 'react';
import { createPortal } from 'react-dom';
import { Button } from './button.tsx';

type DialogProps = {
  readonly title: string;
  readonly children: ReactNode;
  /** label of the confirm button */
  readonly confirm: string;
  readonly danger?: boolean;
  /** there is nothing to decide: the confirm button closes it */
  readonly plain?: boolean;
  /** form fields by name */
  readonly onConfirm: (fields: FormData) => void;
  readonly onClose: () => void;
};

export function Dialog(props: DialogProps) {
  const { title, children, confirm, danger = false, plain = false, onConfirm, onClose } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const label = useId();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    event.stopPropagation();
    const fields = new FormData(event.currentTarget);
    dialog.current?.close();
    onConfirm(fields);
  }

  // Outside of the page's own forms, which would be submitted with it.
  return createPortal(
    <dialog ref={dialog} className="dialog" aria-labelledby={label} onClose={onClose}>
      <form onSubmit={submit}>
        <h2 id={label}>{title}</h2>
        {children}
        <div className="dialog-buttons">
          {!plain && <Button onClick={() => dialog.current?.close()}>Cancel</Button>}
          <Button type="submit" look={danger ? 'danger' : 'primary'}>
            {confirm}
          </Button>
        </div>
      </form>
    </dialog>,
    document.body,
  );
}
