import { useEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';

/** An image that fills the window when it is clicked. */
export function Picture({ src }: { src: string }) {
  const [zoomed, setZoomed] = useState(false);
  return (
    <>
      <button type="button" className="picture-button" title="Zoom" onClick={() => setZoomed(true)}>
        <img className="picture" src={src} alt="Attachment" />
      </button>
      {zoomed && <Zoomed src={src} onClose={() => setZoomed(false)} />}
    </>
  );
}

function Zoomed({ src, onClose }: { src: string; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return createPortal(
    <dialog ref={dialog} className="zoomed" aria-label="Attachment" onClose={onClose}>
      <button type="button" title="Close" onClick={() => dialog.current?.close()}>
        <img src={src} alt="Attachment" />
      </button>
    </dialog>,
    document.body,
  );
}
