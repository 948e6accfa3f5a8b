/** What an organisation of the demonstration asks, and who it is. */
export interface Organisation {
  name: string;
  /** Colour of its console. */
  accent: 'teal' | 'violet' | 'rust';
  /** Content by language, as POST /models/{id}/versions takes it. */
  information: Content;
  question: { name: string; data: Content };
}

type Content = Record<'en' | 'fr', Record<string, unknown>>;

const consent = { legalBases: ['LEGAL_BASIS_CONSENT'] };

/** The hospital shows the form. */
export const hospital: Organisation = {
  name: 'Lakeside Hospital',
  accent: 'teal',
  information: {
    en: {
      title: 'Your data after your stay',
      header:
        '<p>You have been treated at Lakeside Hospital. We would like to ask you some questions, and so would two partners of ours.</p><p><strong>Your treatment does not depend on any answer.</strong> What you answer to a partner reaches that partner alone: we cannot read it.</p>',
      dataController: { company: 'Lakeside Hospital', email: 'privacy@lakeside-hospital.example' },
      dataControllerVisible: true,
    },
    fr: {
      title: 'Vos données après votre séjour',
      header:
        '<p>Vous avez été soigné à l’Hôpital du Lac. Nous aimerions vous poser quelques questions, et deux de nos partenaires aussi.</p><p><strong>Votre traitement ne dépend d’aucune réponse.</strong> Ce que vous répondez à un partenaire ne parvient qu’à lui : nous ne pouvons pas le lire.</p>',
      dataController: { company: 'Hôpital du Lac', email: 'privacy@lakeside-hospital.example' },
      dataControllerVisible: true,
    },
  },
  question: {
    name: 'Discharge letter to the family doctor',
    data: {
      en: {
        title: 'Letter to your family doctor',
        data: 'Your discharge letter',
        usage: 'We send your discharge letter to your family doctor.',
        thirdParties: [{ name: 'Your family doctor', value: 'gets the letter' }],
        retention: { value: 10, unit: 'YEAR', fullText: 'Ten years, as medical records are kept' },
        ...consent,
      },
      fr: {
        title: 'Lettre à votre médecin traitant',
        data: 'Votre lettre de sortie',
        usage: 'Nous envoyons votre lettre de sortie à votre médecin traitant.',
        thirdParties: [{ name: 'Votre médecin traitant', value: 'reçoit la lettre' }],
        retention: { value: 10, unit: 'YEAR', fullText: 'Dix ans, comme les dossiers médicaux' },
        ...consent,
      },
    },
  },
};

/** What the partners ask appears in the hospital's form; each of them gets its own answers. */
export const partners: readonly Organisation[] = [
  {
    name: 'Northern Sleep Lab',
    accent: 'violet',
    information: {
      en: {
        title: 'Research on sleep',
        header: '<p>The Northern Sleep Lab finds out why patients sleep badly in hospitals.</p>',
        dataController: { company: 'Northern Sleep Lab', email: 'ethics@sleep-lab.example' },
        dataControllerVisible: true,
      },
      fr: {
        title: 'Recherche sur le sommeil',
        header: '<p>Le Laboratoire du sommeil étudie pourquoi les patients dorment mal à l’hôpital.</p>',
        dataController: { company: 'Laboratoire du sommeil', email: 'ethics@sleep-lab.example' },
        dataControllerVisible: true,
      },
    },
    question: {
      name: 'Study of sleep',
      data: {
        en: {
          title: 'A study of sleep in hospitals',
          data: 'How you slept during your stay, your age and your ward',
          usage: 'We compare wards, and publish figures that name nobody.',
          thirdParties: [],
          retention: { value: 5, unit: 'YEAR', fullText: 'Five years after the end of the study' },
          ...consent,
        },
        fr: {
          title: 'Une étude du sommeil à l’hôpital',
          data: 'Votre sommeil pendant le séjour, votre âge et votre service',
          usage: 'Nous comparons les services et publions des chiffres anonymes.',
          thirdParties: [],
          retention: { value: 5, unit: 'YEAR', fullText: 'Cinq ans après la fin de l’étude' },
          ...consent,
        },
      },
    },
  },
  {
    name: 'City Patients’ Council',
    accent: 'rust',
    information: {
      en: {
        title: 'Patients speak up',
        header: '<p>The council asks patients how they were treated, and tells the city.</p>',
        dataController: { company: 'City Patients’ Council', email: 'hello@patients-council.example' },
        dataControllerVisible: true,
      },
      fr: {
        title: 'La parole aux patients',
        header: '<p>Le conseil demande aux patients comment ils ont été soignés, et en informe la ville.</p>',
        dataController: { company: 'Conseil des patients', email: 'hello@patients-council.example' },
        dataControllerVisible: true,
      },
    },
    question: {
      name: 'Interview',
      data: {
        en: {
          title: 'An interview about your stay',
          data: 'Your name and telephone number',
          usage: 'We call you once, within four weeks.',
          thirdParties: [],
          retention: { value: 3, unit: 'MONTH', fullText: 'Three months' },
          ...consent,
        },
        fr: {
          title: 'Un entretien sur votre séjour',
          data: 'Votre nom et votre numéro de téléphone',
          usage: 'Nous vous appelons une fois, dans les quatre semaines.',
          thirdParties: [],
          retention: { value: 3, unit: 'MONTH', fullText: 'Trois mois' },
          ...consent,
        },
      },
    },
  },
];
