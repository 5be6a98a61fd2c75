import { useState } from 'react';
import { createPortal } from 'react-dom';
import { useModal } from './use-modal.ts';

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
