import type { Handlers } from '#lib/http/operation.ts';
import { assetHandlers } from './assets.ts';
import { contractHandlers } from './contract.ts';
import type { Dependencies } from './dependencies.ts';
import {
  createModelHandler,
  deleteModelHandler,
  exportModelHandler,
  getModelByKeyHandler,
  getModelHandler,
  importModelHandler,
  listModelsHandler,
  updateModelHandler,
  uploadLogoHandler,
} from './models.ts';
import { pageHandlers } from './pages.ts';
import {
  createVersionHandler,
  deleteVersionHandler,
  getActiveVersionHandler,
  getLatestVersionHandler,
  getVersionHandler,
  listVersionsHandler,
  previewVersionHandler,
  setVersionStatusHandler,
  setVersionTypeHandler,
  updateVersionHandler,
} from './versions.ts';

/** The service's handlers by operationId (openapi.yaml, tag forms). */
export function createHandlers(dependencies: Dependencies): Handlers {
  return {
    ...assetHandlers(dependencies),
    ...contractHandlers(dependencies),
    ...pageHandlers(dependencies),
    listModels: listModelsHandler(dependencies),
    createModel: createModelHandler(dependencies),
    importModel: importModelHandler(dependencies),
    getModelByKey: getModelByKeyHandler(dependencies),
    getModel: getModelHandler(dependencies),
    updateModel: updateModelHandler(dependencies),
    deleteModel: deleteModelHandler(dependencies),
    exportModel: exportModelHandler(dependencies),
    uploadLogo: uploadLogoHandler(dependencies),
    listVersions: listVersionsHandler(dependencies),
    createVersion: createVersionHandler(dependencies),
    getLatestVersion: getLatestVersionHandler(dependencies),
    getActiveVersion: getActiveVersionHandler(dependencies),
    getVersion: getVersionHandler(dependencies),
    updateVersion: updateVersionHandler(dependencies),
    deleteVersion: deleteVersionHandler(dependencies),
    setVersionStatus: setVersionStatusHandler(dependencies),
    setVersionType: setVersionTypeHandler(dependencies),
    previewVersion: previewVersionHandler(dependencies),
  };
}
