import type { Handlers } from '#lib/http/operation.ts';
import { assetHandlers } from './assets.ts';
import { contractHandlers } from './contract.ts';
import { createModelHandler } from './create-model.ts';
import { createVersionHandler } from './create-version.ts';
import { deleteModelHandler } from './delete-model.ts';
import { deleteVersionHandler } from './delete-version.ts';
import type { Dependencies } from './dependencies.ts';
import { exportModelHandler } from './export-model.ts';
import { getActiveVersionHandler } from './get-active-version.ts';
import { getLatestVersionHandler } from './get-latest-version.ts';
import { getModelHandler } from './get-model.ts';
import { getModelByKeyHandler } from './get-model-by-key.ts';
import { getVersionHandler } from './get-version.ts';
import { importModelHandler } from './import-model.ts';
import { listModelsHandler } from './list-models.ts';
import { listVersionsHandler } from './list-versions.ts';
import { pageHandlers } from './pages.ts';
import { previewVersionHandler } from './preview-version.ts';
import { setVersionStatusHandler } from './set-version-status.ts';
import { setVersionTypeHandler } from './set-version-type.ts';
import { updateModelHandler } from './update-model.ts';
import { updateVersionHandler } from './update-version.ts';
import { uploadLogoHandler } from './upload-logo.ts';

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
