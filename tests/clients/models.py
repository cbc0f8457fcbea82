"""The models of datamodel-code-generator keep custom fields and refuse none. Argument: the folder of `funil_models.py`."""

import sys

sys.path.insert(0, sys.argv[1])

import funil_models as models

for model, fields in [
    (models.LeadChanges, {"city": "Londrina", "filial": "Apucarana", "metragem": 90.5}),
    (models.BookingForm, {"firstname": "Bia", "convidados": 3}),
    (models.BookingProperties, {"origem": "site"}),
    (models.Submission, {"nome": "Bia", "interesse": ["a", "b"]}),
]:
    kept = model.model_validate(fields).model_dump(mode="json", exclude_unset=True)
    assert kept == fields, f"{model.__name__}: {kept}"
print("custom fields kept")
