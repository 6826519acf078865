import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./Icon.tsx";
import { type MenuItem, nextItem, type OpenMenu, openMenu } from "./menu.ts";

const MARGIN = 8;

function close(): void {
  openMenu.value = undefined;
}

function Item({ item, onHover }: { item: MenuItem; onHover: () => void }) {
  const act = () => {
    close();
    item.act();
  };
  const role = item.checked === undefined ? "menuitem" : "menuitemradio";
  return (
    <>
      {item.group && <div class="menu-line" role="separator" />}
      <button
        type="button"
        role={role}
        aria-checked={item.checked}
        aria-haspopup={item.opensMenu ? "menu" : undefined}
        class={`menu-item ${item.danger ? "danger" : ""}`}
        disabled={item.disabled}
        tabIndex={-1}
        onClick={act}
        onPointerMove={onHover}
      >
        <span class="menu-mark">
          {item.swatch && <i class="swatch" data-color={item.swatch} />}
          {item.icon && <Icon name={item.icon} size={16} />}
        </span>
        <span class="menu-label">{item.label}</span>
        {item.checked && <Icon name="check" size={16} />}
        {item.keys && <kbd>{item.keys}</kbd>}
        {item.opensMenu && <Icon name="right" size={16} />}
      </button>
    </>
  );
}

function place(element: HTMLElement, menu: OpenMenu): void {
  const x = Math.min(menu.x, innerWidth - element.offsetWidth - MARGIN);
  const y = Math.min(menu.y, innerHeight - element.offsetHeight - MARGIN);
  element.style.left = `${Math.max(MARGIN, x)}px`;
  element.style.top = `${Math.max(MARGIN, y)}px`;
}

/** A modal dialog too, so that it opens above others and the focus comes back by itself. */
function MenuBox({ menu }: { menu: OpenMenu }) {
  const back = useRef<HTMLDialogElement>(null);
  const ref = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState(() => nextItem(menu.items, -1, 1));
  useLayoutEffect(() => {
    const dialog = back.current;
    dialog?.showModal();
    if (ref.current) place(ref.current, menu);
    return () => dialog?.close();
  }, [menu]);
  useLayoutEffect(
    () => ref.current?.querySelectorAll<HTMLElement>(".menu-item")[current]?.focus(),
    [menu, current],
  );
  const key = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setCurrent(nextItem(menu.items, current, step));
    else if (event.key === "Home") setCurrent(nextItem(menu.items, -1, 1));
    else if (event.key === "End") setCurrent(nextItem(menu.items, 0, -1));
    else if (event.key === "Escape" || event.key === "Tab") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <dialog
      ref={back}
      class="menu-back"
      aria-label={menu.label}
      onCancel={close}
      onPointerDown={(event) => event.target === event.currentTarget && close()}
      onContextMenu={(event) => event.preventDefault()}
    >
      <div ref={ref} class="menu" role="menu" aria-label={menu.label} data-testid="menu" onKeyDown={key}>
        {menu.items.map((item, at) => (
          <Item key={item.label} item={item} onHover={() => setCurrent(at)} />
        ))}
      </div>
    </dialog>
  );
}

export function Menu() {
  const menu = openMenu.value;
  return menu ? <MenuBox key={`${menu.label}@${menu.x},${menu.y}`} menu={menu} /> : null;
}
