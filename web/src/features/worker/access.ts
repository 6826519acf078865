/**
 * What the service worker may show to the service: a copy of the page's key, in a storage of the same
 * origin that workers can read. It is there only while answers in notifications are switched on.
 */

const DATABASE = "tservice.worker";
const STORE = "access";

/** One for each base path: services behind one reverse proxy share the storage. */
const entry = (scope: string): string => new URL(scope).pathname;

function ended<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("this browser keeps nothing"));
  });
}

async function within<T>(
  mode: IDBTransactionMode,
  act: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
  const database = await ended(opening);
  try {
    return await ended(act(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
}

/** @returns undefined where answers are switched off. */
export async function readAccess(scope: string): Promise<string | undefined> {
  const key: unknown = await within("readonly", (store) => store.get(entry(scope)));
  return typeof key === "string" ? key : undefined;
}

export async function storeAccess(scope: string, key: string): Promise<void> {
  await within("readwrite", (store) => store.put(key, entry(scope)));
}

export async function removeAccess(scope: string): Promise<void> {
  await within("readwrite", (store) => store.delete(entry(scope)));
}
