/** Modal dialogs, and images that fill the window. The browser traps the focus and closes them with Escape. */
import { type FormEvent, type ReactNode, type RefObject, useEffect, useId, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { Button, Notice, useAttempt } from './controls.tsx';

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
  const { busy, problem, run } = useAttempt();

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    event.stopPropagation();
    if (busy) return;
    const fields = new FormData(event.currentTarget);
    void run(async () => {
      await onConfirm(fields);
      dialog.current?.close();
    });
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

// Opens a dialog above the page. It is about the page below it: navigation closes it.

export function useModal(): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    // The event of a navigation follows the new address, and may come after a dialog was opened there.
    const { hash } = location;
    const close = () => location.hash !== hash && dialog.current?.close();
    addEventListener('hashchange', close);
    return () => removeEventListener('hashchange', close);
  }, []);
  return dialog;
}

type PictureProps = { readonly src: string; readonly alt: string };

/** An image that fills the window when it is clicked. */
export function Picture({ src, alt }: PictureProps) {
  const [zoomed, setZoomed] = useState(false);
  return (
    <>
      <button type="button" className="picture-button" title="Zoom" onClick={() => setZoomed(true)}>
        <img className="picture" src={src} alt={alt} />
      </button>
      {zoomed && <Zoomed src={src} alt={alt} onClose={() => setZoomed(false)} />}
    </>
  );
}

function Zoomed({ src, alt, onClose }: PictureProps & { readonly onClose: () => void }) {
  const dialog = useModal();
  return createPortal(
    <dialog ref={dialog} className="zoomed" aria-label={alt} onClose={onClose}>
      <button type="button" title="Close" onClick={() => dialog.current?.close()}>
        <img src={src} alt={alt} />
      </button>
    </dialog>,
    document.body,
  );
}
